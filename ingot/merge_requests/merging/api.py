"""Merging over the API."""

from functools import partial

from ingot.access.levels import Access
from ingot.api.routes import Call, Instead, Routes, Stage
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.merge_requests.api import merge_request_in_path, shown
from ingot.merge_requests.merging import policy, queries, rebasing, service, work
from ingot.merge_requests.merging.params import MergeMergeRequest, RebaseMergeRequest
from ingot.merge_requests.merging.policy import Candidate
from ingot.merge_requests.merging.showing import readable_source
from ingot.merge_requests.merging.trying import tried_merge
from ingot.merge_requests.merging.views import MergeRefView, RebaseView, RefusalView
from ingot.merge_requests.merging.wishes import Wish
from ingot.merge_requests.policy import Found, may_read_found
from ingot.merge_requests.queries import merge_request_by_id
from ingot.merge_requests.views import OneMergeRequestView
from ingot.projects.api import store_of
from ingot.repository.pipelines.views import PipelineBrief, pipeline_brief
from ingot.repository.place import project_url
from ingot.repository.protection.queries import branch_rules

routes = Routes("merging")
_REFUSALS = {405: RefusalView, 406: RefusalView}


def candidate_in_path(call: Call) -> tuple[Access, Candidate]:
    """The merge request that the path names, and the rules on what it would change."""
    here, found = merge_request_in_path(call)
    return here, Candidate(found, branch_rules(call.db, found.project.id))


def _shown(stage: Stage, found: Found) -> OneMergeRequestView:
    def show(db: Connection) -> OneMergeRequestView:
        return shown(stage, db, found.project, merge_request_by_id(db, found.merge_request.id), asks_git=True)

    return stage.database.read(show)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/merge",
    on=candidate_in_path,
    may=policy.may_merge,
    returns=OneMergeRequestView,
    instead=_REFUSALS,
    staged=True,
    denied=401,  # The contract's word for a refusal here; elsewhere it is 403.
)
def merge_merge_request(stage: Stage, candidate: Candidate, params: MergeMergeRequest) -> OneMergeRequestView | Instead:
    """Merge a merge request, or have it merged when its pipeline succeeds."""
    wish = Wish(
        params.merge_commit_message or None,
        params.squash_commit_message or None,
        params.squash,
        params.should_remove_source_branch,
        params.sha or None,
    )
    later = bool(params.merge_when_pipeline_succeeds or params.auto_merge)
    found = candidate.found
    try:
        work.merge(stage.database, store_of(stage.settings), stage.actor, found.merge_request, wish, later=later)
    except work.CannotMergeNow as refused:
        return _refusal(refused)
    return _shown(stage, found)


def _refusal(refused: work.CannotMergeNow) -> Instead:
    if refused.code == "not_open":
        return Instead(406, RefusalView("406 Not Acceptable", refused.code))
    if refused.code in ("commits_status", "conflict", "need_rebase"):
        return Instead(405, RefusalView(refused.message, refused.code))
    return Instead(405, RefusalView(f"405 Method Not Allowed: {refused.message}", refused.code))


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds",
    on=candidate_in_path,
    may=policy.may_cancel_merge,
    returns=OneMergeRequestView,
    instead=_REFUSALS,
    staged=True,
    denied=401,
)
def cancel_merge(stage: Stage, candidate: Candidate) -> OneMergeRequestView | Instead:
    """Cancel the merge of a merge request that waits for its pipeline."""
    merge_request = candidate.found.merge_request
    # What is over is told from what was never set.
    if merge_request.state != "opened":
        return Instead(405, RefusalView("405 Method Not Allowed", "not_open"))
    if not merge_request.merge_when_pipeline_succeeds:
        return Instead(406, RefusalView("406 Not Acceptable", "not_set"))
    cancel = partial(service.cancel_merge, actor_id=stage.actor.user_id, merge_request=merge_request)
    stage.database.write(cancel)
    return _shown(stage, candidate.found)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds",
    on=candidate_in_path,
    may=policy.may_cancel_merge,
    returns=OneMergeRequestView,
    instead=_REFUSALS,
    staged=True,
    denied=401,
)
def cancel_merge_by_post(stage: Stage, candidate: Candidate) -> OneMergeRequestView | Instead:
    """Cancel the merge of a merge request that waits for its pipeline, as clients ask for it."""
    return cancel_merge(stage, candidate)


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/rebase",
    on=merge_request_in_path,
    may=may_read_found,  # Who may move the source branch is asked at the gate.
    returns=RebaseView,
    status=202,
    staged=True,
)
def rebase_merge_request(stage: Stage, found: Found, params: RebaseMergeRequest) -> RebaseView:  # noqa: ARG001 - What is sent is checked, and has no effect.
    """Do the commits of a merge request again upon its target."""
    rebasing.rebase(stage.database, store_of(stage.settings), stage.actor, found.merge_request)
    return RebaseView(rebase_in_progress=False)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/merge_ref",
    on=merge_request_in_path,
    may=may_read_found,
    returns=MergeRefView,
    staged=True,
)
def get_merge_ref(stage: Stage, found: Found) -> MergeRefView:
    """Get a commit that shows what the target would be with the merge request in it."""
    return MergeRefView(commit_id=tried_merge(stage.database, store_of(stage.settings), found))


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/pipelines",
    on=merge_request_in_path,
    may=may_read_found,
    returns=list[PipelineBrief],
)
def list_pipelines(call: Call, found: Found, page: Page) -> Listing[PipelineBrief]:
    """List the pipelines of a merge request."""
    source = readable_source(call.db, call.actor, found.merge_request)
    if source is None:
        return Listing([], page, 0)
    listed = queries.list_merge_request_pipelines(call.db, found.merge_request, page)
    return listed.of([pipeline_brief(pipeline, project_url(call, source)) for pipeline in listed.items])
