"""Page of the merge trains of a project."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.merge import train_api
from ingot.collaboration.merge_requests.merge.train_removal import removable_merge_requests
from ingot.collaboration.merge_requests.merge.train_views import MergeTrainCarView
from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.errors import NotFound
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()


_MAX_CARS = 100
_TOLERANCE = 15
"""Number of seconds by which a pipeline may exceed the mean without taking longer than usual."""


class TrainPlace(NamedTuple):
    """A car on the page of its train."""

    car: MergeTrainCarView
    partners: list[int]
    """Numbers of the merge requests that the same pipeline tests."""
    expected: int | None
    """Seconds until the merge if all pipelines succeed, by the mean of the last ones; None if nothing can be said."""
    is_late: bool
    """Whether its pipeline takes longer than usual; nothing is expected of those behind it then."""
    may_remove: bool


@pages.get("/:path/-/merge_trains")
def show_merge_trains(visit: Visit) -> PageResponse:
    """Show the merge requests in the merge trains, by target branch, and those merged last."""
    parent = project_context(visit)
    if not parent.may(train_api.list_merge_trains):
        raise NotFound("Page")
    filters = {"scope": "active", "sort": "asc", "per_page": _MAX_CARS}
    active = parent.ask(train_api.list_merge_trains, filters)
    merged = parent.ask(train_api.list_merge_trains, {"scope": "complete", "per_page": 20}).items
    trains: dict[str, list[MergeTrainCarView]] = {}
    for car in active.items:
        trains.setdefault(car.target_branch, []).append(car)
    ids = {car.merge_request.id for car in active.items}
    removable = visit.database.read(lambda db: removable_merge_requests(db, visit.viewer.actor, ids))
    typical, now = _mean_seconds(merged), visit.database.clock()
    places = {branch: _places(cars, typical, now, removable) for branch, cars in trains.items()}
    more = (active.total or 0) - len(active.items)
    return parent.page(
        "merge_requests/trains.html",
        "merge_requests",
        {"trains": places, "merged": merged, "more": max(0, more), "has_estimates": typical is not None},
    )


def _places(
    cars: Sequence[MergeTrainCarView], typical: int | None, now: Timestamp, removable: Collection[int]
) -> list[TrainPlace]:
    """Return the cars of a train with the seconds until each is probably merged."""
    partners = defaultdict(list)
    for car in cars:
        if car.pipeline is not None:
            partners[car.pipeline.id].append(car.merge_request.iid)
    places: list[TrainPlace] = []
    left, is_late = 0, False
    for car in cars:
        expected: int | None = None
        takes_longer = False
        status = None if car.pipeline is None else car.pipeline.status
        if typical is not None and status == "failed":
            left += typical  # It leaves after those before it are merged, and those behind it are tested again.
        elif typical is not None and car.pipeline is None:
            expected = left + typical
        elif typical is not None and car.pipeline is not None:
            own = 0 if status == "success" else typical - _seconds_between(car.pipeline.created_at, now)
            takes_longer = own < -max(_TOLERANCE, typical // 10)
            is_late = is_late or takes_longer
            expected = left = max(left, own)
        tested = [] if car.pipeline is None else partners[car.pipeline.id]
        others = [iid for iid in tested if iid != car.merge_request.iid]
        may_remove = car.merge_request.id in removable
        if is_late and not expected:
            expected = None
        places.append(TrainPlace(car, others, expected, takes_longer and not expected, may_remove))
    return places


def _seconds_between(start: Timestamp, end: Timestamp) -> int:
    return int((to_datetime(end) - to_datetime(start)).total_seconds())


def _mean_seconds(cars: Sequence[MergeTrainCarView]) -> int | None:
    """Return the mean time that the pipelines of merged cars took."""
    ended = {car.pipeline.id: car.pipeline for car in cars if car.pipeline is not None and car.status == "merged"}
    seconds = [_seconds_between(each.created_at, each.updated_at) for each in ended.values()]
    return sum(seconds) // len(seconds) if seconds else None
