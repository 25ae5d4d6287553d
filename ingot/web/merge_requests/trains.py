"""Page of the merge trains of a project."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.merge import train_api
from ingot.collaboration.merge_requests.merge.train_views import MergeTrainCarView
from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.errors import NotFound
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()


class TrainPlace(NamedTuple):
    """A car on the page of its train."""

    car: MergeTrainCarView
    batch: int
    """Number of cars that the pipeline tests together."""
    expected: int | None
    """Seconds until the merge if all pipelines succeed, by the mean of the last ones; None before the first merge."""


@pages.get("/:path/-/merge_trains")
def show_merge_trains(visit: Visit) -> PageResponse:
    """Show the merge requests in the merge trains, by target branch, and those merged last."""
    parent = project_context(visit)
    if not parent.may(train_api.list_merge_trains):
        raise NotFound("Page")
    active = parent.ask(train_api.list_merge_trains, {"scope": "active", "sort": "asc", "per_page": 100}).items
    merged = parent.ask(train_api.list_merge_trains, {"scope": "complete", "per_page": 20}).items
    trains: dict[str, list[MergeTrainCarView]] = {}
    for car in active:
        trains.setdefault(car.target_branch, []).append(car)
    typical, now = _mean_seconds(merged), visit.database.clock()
    places = {branch: _places(cars, typical, now) for branch, cars in trains.items()}
    return parent.page("merge_requests/trains.html", "merge_requests", {"trains": places, "merged": merged})


def _places(cars: Sequence[MergeTrainCarView], typical: int | None, now: Timestamp) -> list[TrainPlace]:
    """Return the cars of a train with the seconds until each is probably merged."""
    sizes = Counter(car.pipeline.id for car in cars if car.pipeline is not None)
    places: list[TrainPlace] = []
    left = 0
    for car in cars:
        if typical is None or car.pipeline is None:
            # It is tested after those before it.
            expected = None if typical is None else left + typical
        else:
            has_passed = car.pipeline.status == "success"
            own = 0 if has_passed else max(0, typical - _seconds_between(car.pipeline.created_at, now))
            expected = left = max(left, own)
        size = sizes[car.pipeline.id] if car.pipeline is not None else 1
        places.append(TrainPlace(car, size, expected))
    return places


def _seconds_between(start: Timestamp, end: Timestamp) -> int:
    return int((to_datetime(end) - to_datetime(start)).total_seconds())


def _mean_seconds(cars: Sequence[MergeTrainCarView]) -> int | None:
    """Return the mean time that the pipelines of merged cars took."""
    ended = {car.pipeline.id: car.pipeline for car in cars if car.pipeline is not None and car.status == "merged"}
    seconds = [_seconds_between(each.created_at, each.updated_at) for each in ended.values()]
    return sum(seconds) // len(seconds) if seconds else None
