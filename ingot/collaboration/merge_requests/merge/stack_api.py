"""Endpoints of stacks of merge requests."""

from functools import partial

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.list_views import merge_request_list_views
from ingot.collaboration.merge_requests.merge import restack, stack_merge
from ingot.collaboration.merge_requests.merge.api import merge_candidate_in_path
from ingot.collaboration.merge_requests.merge.context import MergeBlocked
from ingot.collaboration.merge_requests.merge.params import MergeStack
from ingot.collaboration.merge_requests.merge.train_queries import merge_requests_by_ids
from ingot.collaboration.merge_requests.merge.views import MergeRefusalView, RebaseView
from ingot.collaboration.merge_requests.policy import MergeCandidate, MergeRequestLookup
from ingot.collaboration.merge_requests.stacks.tree import stack_positions
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.core.api.routes import AlternateResponse, Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.projects.projects.api import repository_store

routes = Routes("stacks of merge requests")
_REFUSALS = dict.fromkeys((405, 406), MergeRefusalView)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/stack",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,
    returns=list[MergeRequestView],
)
def list_stack(call: Call, lookup: MergeRequestLookup) -> list[MergeRequestView]:
    """List the merge requests of a stack: each before those stacked on it; none if it is not in a stack."""
    place = stack_positions(call.db, [lookup.merge_request]).get(lookup.merge_request.id)
    if place is None:
        return []
    found = {each.id: each for each in merge_requests_by_ids(call.db, place.layers)}
    layers = [found[number] for number in place.layers if number in found]
    store, base = repository_store(call.settings), call.origin.base
    return merge_request_list_views(call.db, store, layers, base, lookup.project)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/stack/merge",
    on=merge_candidate_in_path,
    may=policy.may_merge,
    returns=list[MergeRequestView],
    instead=_REFUSALS,
    staged=True,
    denied=401,
)
def merge_stack(
    stage: StagedCall, candidate: MergeCandidate, params: MergeStack
) -> list[MergeRequestView] | AlternateResponse:
    """Merge a merge request and all below it in its stack, from the bottom up, or add them to the merge train."""
    store, merge_request = repository_store(stage.settings), candidate.lookup.merge_request
    layers = stage.database.read(partial(stack_merge.layers_up_to, merge_request=merge_request))
    try:
        stack_merge.merge_stack(stage.database, store, stage.actor, merge_request, params.sha or None)
    except stack_merge.StackBlocked as blocked:
        return _refusal_view(blocked)
    base = stage.origin.base

    def show(db: Connection) -> list[MergeRequestView]:
        found = {each.id: each for each in merge_requests_by_ids(db, [layer.id for layer in layers])}
        merged = [found[layer.id] for layer in layers]
        return merge_request_list_views(db, store, merged, base, candidate.lookup.project)

    return stage.database.read(show)


def _refusal_view(blocked: stack_merge.StackBlocked) -> AlternateResponse:
    """Return the refusal of one layer, with its number."""
    error, text = blocked.error, f"!{blocked.layer.iid}: {blocked.error}"
    if isinstance(error, MergeBlocked):
        return AlternateResponse(406 if error.code == "not_open" else 405, MergeRefusalView(text, error.code))
    if isinstance(error, Conflict):
        raise Conflict(text)
    raise error


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/stack/rebase",
    on=merge_request_in_path,
    may=policy.may_read_merge_request,  # The change of the source branch checks the permission to push.
    returns=RebaseView,
    status=202,
    staged=True,
)
def rebase_layer(stage: StagedCall, lookup: MergeRequestLookup) -> RebaseView:
    """Rebase a merge request, and then those above it, without the commits of the layer below that were rewritten."""
    restack.restack_now(stage.database, repository_store(stage.settings), stage.actor, lookup.merge_request)
    return RebaseView(rebase_in_progress=True)
