"""Merge trains."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from ingot.collaboration.merge_requests.merge.train_queries import list_trains, trains_into
from ingot.collaboration.merge_requests.merge.train_removal import removable_merge_requests
from ingot.core.errors import NotFound
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_projects, load_users
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
CAR_MODEL = "MergeTrains::Car"
CANCELLATION = "POST /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds"
_TRAINS = "GET /projects/:id/merge_trains"
_SCOPES = {"ACTIVE": "active", "COMPLETED": "complete"}
_PAGE_SIZE = 100


class MergeTrain(msgspec.Struct):
    """The train into a branch of a project."""

    project_id: int
    target_branch: str


@resolvers.single("Project.mergeTrains")
def list_merge_trains(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage | None:
    """Return the trains of a project; null if the caller may not see them."""
    if not context.allows(_TRAINS, id=project.id):
        return None
    status, wanted = arguments.get("status"), arguments.get("targetBranches")
    active = None if status is None else status == "ACTIVE"
    branches = context.read(lambda db: list_trains(db, project.id, active=active))
    trains = [MergeTrain(project.id, branch) for branch in branches if wanted is None or branch in wanted]
    return connection_of(trains, arguments)


@resolvers.single("MergeTrain.cars")
def list_cars(context: QueryContext, train: MergeTrain, arguments: Arguments) -> ConnectionPage:
    """Return a page of the cars of a train, the first one first."""
    params = {"scope": _SCOPES[arguments["activityStatus"]], "sort": "asc"}
    path = {"id": train.project_id, "target_branch": train.target_branch}
    return listed(context, f"{_TRAINS}/:target_branch", arguments, params, **path)


@resolvers.single("MergeRequest.mergeTrainCar", call="GET merge train car")
def find_car(context: QueryContext, subject: Any, _: Arguments) -> Any:
    """Return the car of a merge request; null if it was never in a train, or the caller may not see it."""
    path = {"id": subject.project_id, "merge_request_iid": subject.iid}
    route = f"{_TRAINS}/merge_requests/:merge_request_iid"
    if not context.allows(route, **path):
        return None
    try:
        return context.call(route, **path)
    except NotFound:
        return None


@resolvers.value("MergeTrainCar.id")
def car_id(_: QueryContext, car: Any) -> str:
    """Return the global id."""
    return to_global_id(CAR_MODEL, car.id)


@resolvers.value("MergeTrainCar.status")
def car_status(_: QueryContext, car: Any) -> str:
    """Return the status."""
    return str(car.status).upper()


@resolvers.batch("MergeTrainCar.index")
def car_indexes(context: QueryContext, cars: Sequence[Any], _: Arguments) -> list[int | None]:
    """Return the positions of cars in their trains; null for merged ones."""
    places = [(car.merge_request.project_id, car.target_branch) for car in cars]
    trains = zip(cars, _trains_of(context, places), strict=True)
    return [_index(train, car.merge_request.id) for car, train in trains]


@resolvers.batch("MergeRequest.mergeTrainIndex")
def indexes_of_merge_requests(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[int | None]:
    """Return the positions of merge requests in trains; null outside, or if the caller may not see trains."""
    return [_index(train, subject.id) for subject, train in _visible_trains(context, subjects)]


@resolvers.batch("MergeRequest.mergeTrainsCount")
def lengths_of_trains(context: QueryContext, subjects: Sequence[Any], _: Arguments) -> list[int | None]:
    """Return the lengths of the trains into the target branches; null if the caller may not see trains."""
    return [None if train is None else len(train) for _, train in _visible_trains(context, subjects)]


def _visible_trains(context: QueryContext, subjects: Sequence[Any]) -> list[tuple[Any, list[int] | None]]:
    """Return merge requests with the trains into their target branches; None where the caller may not see trains."""
    visible = {number: context.allows(_TRAINS, id=number) for number in {each.project_id for each in subjects}}
    shown = [each for each in subjects if visible[each.project_id]]
    trains = _trains_of(context, [(each.project_id, each.target_branch) for each in shown])
    found = {each.id: train for each, train in zip(shown, trains, strict=True)}
    return [(each, found.get(each.id)) for each in subjects]


def _trains_of(context: QueryContext, places: Sequence[tuple[int, str]]) -> list[list[int]]:
    """Return the ids of the merge requests in the trains into branches, with a statement for each project."""
    branches: dict[int, set[str]] = {}
    for project_id, branch in places:
        branches.setdefault(project_id, set()).add(branch)
    trains = {
        project_id: context.read(partial(trains_into, project_id=project_id, branches=names))
        for project_id, names in branches.items()
    }
    return [trains[project_id].get(branch, []) for project_id, branch in places]


def _index(train: list[int] | None, merge_request_id: int) -> int | None:
    return train.index(merge_request_id) if train and merge_request_id in train else None


@resolvers.batch("MergeTrainCar.mergeRequest")
def merge_requests_of_cars(context: QueryContext, cars: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the merge requests of cars, with a call for each hundred."""
    iids: dict[int, set[int]] = {}
    for car in cars:
        iids.setdefault(car.merge_request.project_id, set()).add(car.merge_request.iid)
    found: dict[int, Any] = {}
    for project_id, numbers in iids.items():
        ordered = sorted(numbers)
        for start in range(0, len(ordered), _PAGE_SIZE):
            params = {"iids": ordered[start : start + _PAGE_SIZE], "per_page": _PAGE_SIZE}
            page = context.call("GET /projects/:id/merge_requests", params, id=project_id)
            found |= {merge_request.id: merge_request for merge_request in page.items}
    return [found.get(car.merge_request.id) for car in cars]


@resolvers.batch("MergeTrainCar.targetProject")
def projects_of_cars(context: QueryContext, cars: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the projects of cars."""
    found = load_projects(context, {car.merge_request.project_id for car in cars})
    return [found[car.merge_request.project_id] for car in cars]


@resolvers.batch("MergeTrainCar.user")
def users_of_cars(context: QueryContext, cars: Sequence[Any], _: Arguments) -> list[Any]:
    """Return the users who added the merge requests; null if deleted."""
    found = load_users(context, {car.user.id for car in cars if car.user is not None})
    return [None if car.user is None else found[car.user.id] for car in cars]


@resolvers.batch("MergeTrainCar.userPermissions")
def find_permissions(context: QueryContext, cars: Sequence[Any], _: Arguments) -> list[dict[str, bool]]:
    """Return whether the caller may remove cars from their trains."""
    ids = {car.merge_request.id for car in cars if car.merged_at is None}
    removable = context.read(lambda db: removable_merge_requests(db, context.actor, ids))
    return [{"delete_merge_train_car": car.merge_request.id in removable} for car in cars]
