"""Endpoints of merging."""

from functools import partial

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.detail_views import merge_request_as_view, pipeline_projects
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.merge import perform, rebase, service
from ingot.collaboration.merge_requests.merge.context import MergeBlocked
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.merge_ref import trial_merge
from ingot.collaboration.merge_requests.merge.params import MergeMergeRequest, RebaseMergeRequest
from ingot.collaboration.merge_requests.merge.views import CanceledMergeView, MergeRefusalView, MergeRefView, RebaseView
from ingot.collaboration.merge_requests.pipelines import list_merge_request_pipelines
from ingot.collaboration.merge_requests.policy import MergeCandidate, MergeRequestLookup, may_read_merge_request
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.views import MergeRequestDetailView
from ingot.core.access.levels import Access
from ingot.core.api.routes import AlternateResponse, Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.pipelines.views import PipelineBrief, pipeline_brief
from ingot.projects.projects.api import repository_store
from ingot.repositories.context import project_url
from ingot.repositories.protection.queries import branch_rules

routes = Routes("merging")
_REFUSALS = {405: MergeRefusalView, 406: MergeRefusalView}


def merge_candidate_in_path(call: Call) -> tuple[Access, MergeCandidate]:
    """Find the merge request that the path names, with the branch protection rules of its target project."""
    access, lookup = merge_request_in_path(call)
    return access, MergeCandidate(lookup, branch_rules(call.db, lookup.project.id))


def _merge_request_as_view(stage: StagedCall, lookup: MergeRequestLookup) -> MergeRequestDetailView:
    def show(db: Connection) -> MergeRequestDetailView:
        current = merge_request_by_id(db, lookup.merge_request.id)
        # A merge does not change the project's settings, the assignees or the reviewers: the lookup remains valid.
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
    denied=401,  # The specification demands 401 here; other endpoints respond 403.
)
def merge_merge_request(
    stage: StagedCall, candidate: MergeCandidate, params: MergeMergeRequest
) -> MergeRequestDetailView | AlternateResponse:
    """Merge a merge request, or schedule the merge for when its pipeline succeeds or all its checks pass."""
    options = MergeOptions(
        params.merge_commit_message or None,
        params.squash_commit_message or None,
        params.squash,
        params.should_remove_source_branch,
        params.sha or None,
        # Under the older name, the specification has the merge wait for the pipeline only.
        waits_for_checks=bool(params.auto_merge),
    )
    later = bool(params.merge_when_pipeline_succeeds or params.auto_merge)
    lookup = candidate.lookup
    try:
        perform.merge(
            stage.database,
            repository_store(stage.settings),
            stage.actor,
            lookup.merge_request,
            options,
            later=later,
            skips_train=bool(params.skip_merge_train),
        )
    except MergeBlocked as error:
        return _refusal_view(error)
    return _merge_request_as_view(stage, lookup)


def _refusal_view(error: MergeBlocked) -> AlternateResponse:
    if error.code == "not_open":
        return AlternateResponse(406, MergeRefusalView("406 Not Acceptable", error.code))
    if error.code in ("commits_status", "conflict", "need_rebase"):
        return AlternateResponse(405, MergeRefusalView(error.message, error.code))
    return AlternateResponse(405, MergeRefusalView(f"405 Method Not Allowed: {error.message}", error.code))


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
    """Cancel the scheduled merge of a merge request."""
    merge_request = candidate.lookup.merge_request
    # The specification has different statuses for a closed merge request and for one without a scheduled merge.
    if merge_request.state != "opened":
        return AlternateResponse(405, MergeRefusalView("405 Method Not Allowed", "not_open"))
    if not merge_request.merge_when_pipeline_succeeds:
        return AlternateResponse(406, MergeRefusalView("406 Not Acceptable", "not_set"))
    cancel = partial(service.cancel_merge, actor_id=stage.actor.user_id, merge_request=merge_request)
    stage.database.write(cancel)
    return _merge_request_as_view(stage, candidate.lookup)


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds",
    on=merge_candidate_in_path,
    may=policy.may_cancel_merge,
    returns=CanceledMergeView,
    instead=_REFUSALS,
    staged=True,
    denied=401,
)
def cancel_merge_by_post(stage: StagedCall, candidate: MergeCandidate) -> CanceledMergeView | AlternateResponse:
    """Cancel the scheduled merge of a merge request, with the method and the response of later versions."""
    canceled = cancel_merge(stage, candidate)
    return canceled if isinstance(canceled, AlternateResponse) else CanceledMergeView()


@routes.put(
    "/projects/:id/merge_requests/:merge_request_iid/rebase",
    on=merge_request_in_path,
    may=may_read_merge_request,  # The change of the source branch checks the permission to push.
    returns=RebaseView,
    status=202,
    staged=True,
)
def rebase_merge_request(stage: StagedCall, lookup: MergeRequestLookup, params: RebaseMergeRequest) -> RebaseView:  # noqa: ARG001 - The parameters are validated, and have no effect.
    """Rebase the source branch of a merge request onto its target."""
    rebase.rebase(stage.database, repository_store(stage.settings), stage.actor, lookup.merge_request)
    return RebaseView(rebase_in_progress=True)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/merge_ref",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=MergeRefView,
    staged=True,
)
def get_merge_ref(stage: StagedCall, lookup: MergeRequestLookup) -> MergeRefView:
    """Get a commit that shows the target branch after the merge."""
    # The only GET that writes to a repository: the specification defines it so, for clients that fetch the ref
    # afterwards.
    store = repository_store(stage.settings)
    return MergeRefView(commit_id=trial_merge(stage.database, store, lookup.project, lookup.merge_request).commit)


@routes.get(
    "/projects/:id/merge_requests/:merge_request_iid/pipelines",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=list[PipelineBrief],
)
def list_pipelines(call: Call, lookup: MergeRequestLookup, page: Page) -> Listing[PipelineBrief]:
    """List the pipelines of a merge request."""
    merge_request = lookup.merge_request
    ids = (merge_request.source_project_id, merge_request.target_project_id)
    projects = pipeline_projects(call.db, call.actor, ids)
    listing = list_merge_request_pipelines(call.db, merge_request, projects, page)
    return listing.of(
        [pipeline_brief(pipeline, project_url(call, projects[pipeline.project_id])) for pipeline in listing.items]
    )
