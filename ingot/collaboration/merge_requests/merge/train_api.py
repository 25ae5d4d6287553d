"""Endpoints of merge trains."""

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.merge import perform, train_queries
from ingot.collaboration.merge_requests.merge.api import merge_candidate_in_path
from ingot.collaboration.merge_requests.merge.context import MergeBlocked
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.params import AddToTrain, ListTrainCars
from ingot.collaboration.merge_requests.merge.train_views import MergeTrainCarView, car_views
from ingot.collaboration.merge_requests.merge.views import MergeRefusalView
from ingot.collaboration.merge_requests.policy import MergeCandidate, MergeRequestLookup
from ingot.core.api.routes import AlternateResponse, Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.tables import Project

routes = Routes("merge trains")


def _list(
    call: Call, project: Project, branch: str | None, params: ListTrainCars, page: Page
) -> Listing[MergeTrainCarView]:
    listing = train_queries.list_cars(call.db, project.id, branch, params.scope, params.sort, page)
    return listing.of(car_views(call.db, project, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/merge_trains",
    on=project_in_path,
    may=policy.may_read_merge_trains,
    returns=list[MergeTrainCarView],
)
def list_merge_trains(call: Call, project: Project, params: ListTrainCars, page: Page) -> Listing[MergeTrainCarView]:
    """List the merge requests in the merge trains of a project, and those that trains have merged."""
    return _list(call, project, None, params, page)


@routes.get(
    "/projects/:id/merge_trains/:target_branch",
    on=project_in_path,
    may=policy.may_read_merge_trains,
    returns=list[MergeTrainCarView],
)
def list_merge_train(call: Call, project: Project, params: ListTrainCars, page: Page) -> Listing[MergeTrainCarView]:
    """List the merge requests in the merge train into a branch, and those that trains have merged into it."""
    return _list(call, project, call.path["target_branch"], params, page)


@routes.get(
    "/projects/:id/merge_trains/merge_requests/:merge_request_iid",
    on=merge_request_in_path,
    may=policy.may_read_merge_train_car,
    returns=MergeTrainCarView,
)
def get_merge_train_car(call: Call, lookup: MergeRequestLookup) -> MergeTrainCarView:
    """Get the state of a merge request in a merge train."""
    car = train_queries.find_car(call.db, lookup.merge_request.id)
    return car_views(call.db, lookup.project, [car], call.origin.base)[0]


@routes.post(
    "/projects/:id/merge_trains/merge_requests/:merge_request_iid",
    on=merge_candidate_in_path,
    may=policy.may_add_to_merge_train,
    returns=list[MergeTrainCarView],
    instead={400: MergeRefusalView},
    staged=True,
)
def add_to_merge_train(
    stage: StagedCall, candidate: MergeCandidate, params: AddToTrain
) -> list[MergeTrainCarView] | AlternateResponse:
    """Add a merge request to the merge train into its target branch, now or when its checks pass; list the train."""
    lookup = candidate.lookup
    later = bool(params.auto_merge or params.when_pipeline_succeeds)
    options = MergeOptions(squash=params.squash, sha=params.sha or None, waits_for_checks=later)
    merge = lookup.merge_request
    try:
        perform.add_to_train(stage.database, repository_store(stage.settings), stage.actor, merge, options, later=later)
    except MergeBlocked as error:
        return AlternateResponse(400, MergeRefusalView(error.message, error.code))
    base = stage.origin.base

    def show(db: Connection) -> list[MergeTrainCarView]:
        cars = train_queries.cars_of_train(db, lookup.project.id, merge.target_branch)
        return car_views(db, lookup.project, cars, base)

    return stage.database.read(show)
