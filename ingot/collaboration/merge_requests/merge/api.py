"""Merging over the API."""

from functools import partial

from ingot.collaboration.merge_requests.api import merge_request_as_view, merge_request_in_path
from ingot.collaboration.merge_requests.merge import policy, queries, rebase, service, staged
from ingot.collaboration.merge_requests.merge.merge_fields import visible_source_or_none
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.merge_ref import merge_ref_commit
from ingot.collaboration.merge_requests.merge.params import MergeMergeRequest, RebaseMergeRequest
from ingot.collaboration.merge_requests.merge.policy import MergeCandidate
from ingot.collaboration.merge_requests.merge.views import MergeRefusalView, MergeRefView, RebaseView
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_read_merge_request
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.views import MergeRequestDetailView
from ingot.core.access.levels import Access
from ingot.core.api.routes import AlternateResponse, Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.api import repository_store
from ingot.repositories.context import project_url
from ingot.repositories.pipelines.views import PipelineBrief, pipeline_brief
from ingot.repositories.protection.queries import branch_rules

routes = Routes("merging")
_REFUSALS = {405: MergeRefusalView, 406: MergeRefusalView}


def merge_candidate_in_path(call: Call) -> tuple[Access, MergeCandidate]:
    """The merge request that the path names, and the rules on what it would change."""
    access, found = merge_request_in_path(call)
    return access, MergeCandidate(found, branch_rules(call.db, found.project.id))


def _merge_request_as_view(stage: StagedCall, lookup: MergeRequestLookup) -> MergeRequestDetailView:
    def show(db: Connection) -> MergeRequestDetailView:
        current = merge_request_by_id(db, lookup.merge_request.id)
        # Merging changes neither the project's settings nor the people, which were looked up with the path.
        return merge_request_as_view(
            stage, db, lookup.project, current, asks_git=True, lookup=lookup._replace(merge_request=current)
        )

    return stage.database.read(show)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/merge",
    on=merge_candidate_in_path,
    may=policy.may_merge,
    returns=MergeRequestDetailView,
    instead=_REFUSALS,
    staged=True,
    denied=401,  # The contract's word for a refusal here; elsewhere it is 403.
)
def merge_merge_request(
    stage: StagedCall, candidate: MergeCandidate, params: MergeMergeRequest
) -> MergeRequestDetailView | AlternateResponse:
    """Merge a merge request, or have it merged when its pipeline succeeds."""
    wish = MergeOptions(
        params.merge_commit_message or None,
        params.squash_commit_message or None,
        params.squash,
        params.should_remove_source_branch,
        params.sha or None,
    )
    later = bool(params.merge_when_pipeline_succeeds or params.auto_merge)
    found = candidate.found
    try:
        staged.merge(
            stage.database, repository_store(stage.settings), stage.actor, found.merge_request, wish, later=later
        )
    except staged.MergeBlocked as refused:
        return _refusal_view(refused)
    return _merge_request_as_view(stage, found)


def _refusal_view(refused: staged.MergeBlocked) -> AlternateResponse:
    if refused.code == "not_open":
        return AlternateResponse(406, MergeRefusalView("406 Not Acceptable", refused.code))
    if refused.code in ("commits_status", "conflict", "need_rebase"):
        return AlternateResponse(405, MergeRefusalView(refused.message, refused.code))
    return AlternateResponse(405, MergeRefusalView(f"405 Method Not Allowed: {refused.message}", refused.code))


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds",
    on=merge_candidate_in_path,
    may=policy.may_cancel_merge,
    returns=MergeRequestDetailView,
    instead=_REFUSALS,
    staged=True,
    denied=401,
)
def cancel_merge(stage: StagedCall, candidate: MergeCandidate) -> MergeRequestDetailView | AlternateResponse:
    """Cancel the merge of a merge request that waits for its pipeline."""
    merge_request = candidate.found.merge_request
    # What is over is told from what was never set.
    if merge_request.state != "opened":
        return AlternateResponse(405, MergeRefusalView("405 Method Not Allowed", "not_open"))
    if not merge_request.merge_when_pipeline_succeeds:
        return AlternateResponse(406, MergeRefusalView("406 Not Acceptable", "not_set"))
    cancel = partial(service.cancel_merge, actor_id=stage.actor.user_id, merge_request=merge_request)
    stage.database.write(cancel)
    return _merge_request_as_view(stage, candidate.found)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds",
    on=merge_candidate_in_path,
    may=policy.may_cancel_merge,
    returns=MergeRequestDetailView,
    instead=_REFUSALS,
    staged=True,
    denied=401,
)
def cancel_merge_by_post(stage: StagedCall, candidate: MergeCandidate) -> MergeRequestDetailView | AlternateResponse:
    """Cancel the merge of a merge request that waits for its pipeline, as clients ask for it."""
    return cancel_merge(stage, candidate)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/rebase",
    on=merge_request_in_path,
    may=may_read_merge_request,  # Who may move the source branch is asked at the gate.
    returns=RebaseView,
    status=202,
    staged=True,
)
def rebase_merge_request(stage: StagedCall, lookup: MergeRequestLookup, params: RebaseMergeRequest) -> RebaseView:  # noqa: ARG001 - What is sent is checked, and has no effect.
    """Do the commits of a merge request again upon its target."""
    rebase.rebase(stage.database, repository_store(stage.settings), stage.actor, lookup.merge_request)
    return RebaseView(rebase_in_progress=False)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/merge_ref",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=MergeRefView,
    staged=True,
)
def get_merge_ref(stage: StagedCall, lookup: MergeRequestLookup) -> MergeRefView:
    """Get a commit that shows what the target would be with the merge request in it."""
    # The one GET that writes to a repository: the API defines it so, for clients that fetch the ref afterwards.
    return MergeRefView(commit_id=merge_ref_commit(stage.database, repository_store(stage.settings), lookup))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/pipelines",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=list[PipelineBrief],
)
def list_pipelines(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[PipelineBrief]:
    """List the pipelines of a merge request."""
    source = visible_source_or_none(call.db, call.actor, lookup.merge_request)
    if source is None:
        return Listing([], page, 0)
    listed = queries.list_merge_request_pipelines(call.db, lookup.merge_request, page)
    return listed.of([pipeline_brief(pipeline, project_url(call, source)) for pipeline in listed.items])
