"""Page of the merge trains of a project."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.merge import train_api
from ingot.collaboration.merge_requests.merge.train_views import MergeTrainCarView
from ingot.core.errors import NotFound
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()


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
    context = {"trains": trains, "merged": merged, "typical": _mean_duration(merged)}
    return parent.page("merge_requests/trains.html", "merge_requests", context)


def _mean_duration(cars: Sequence[MergeTrainCarView]) -> int | None:
    """Return the mean time in the train, an estimate for the next merge requests."""
    durations = [car.duration for car in cars if car.duration is not None and car.status == "merged"]
    return sum(durations) // len(durations) if durations else None
