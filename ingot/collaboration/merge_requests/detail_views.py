"""Detailed views of single merge requests for the caller, with the mergeability, the pipeline and the permissions."""

from collections.abc import Collection, Sequence

from ingot.collaboration.merge_requests.contributions import is_first_contribution
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.mergeability import Mergeability, cached_mergeabilities
from ingot.collaboration.merge_requests.mergeability_check import check_mergeability, has_source
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.policy import MergeCandidate, MergeRequestLookup, may_merge
from ingot.collaboration.merge_requests.queries import latest_version, merge_requirements
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import (
    CallerPermissionsView,
    MergeRequestDetailView,
    merge_request_detail_view,
)
from ingot.collaboration.participants.queries import is_subscribed
from ingot.core.access.actor import Actor
from ingot.core.api.routes import Call, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.errors import Failure
from ingot.pipelines.policy import may_read_project_pipelines
from ingot.pipelines.views import pipeline_brief
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules


def merge_request_as_view(
    call: Call | StagedCall,
    db: Connection,
    project: Project,
    merge_request: MergeRequest,
    *,
    asks_git: bool = False,
    lookup: MergeRequestLookup | None = None,
) -> MergeRequestDetailView:
    """Build the view of a merge request for the caller.

    With ``asks_git`` git computes the mergeability, which must not happen within a transaction. ``lookup`` saves
    queries if the merge request has not changed since it was found.
    """
    if lookup is None:
        access, project = find_project(db, call.actor, project.id)
        users = None
    else:
        access, users = lookup.access, (lookup.assignees, lookup.reviewers)
    store, base = repository_store(call.settings), call.origin.base
    repository = store.open(project.repository_key)
    if merge_request.state == "opened" and not has_source(db, store, repository, merge_request):
        mergeability: Mergeability | None = "nothing"
    elif asks_git:
        mergeability = check_mergeability(db, repository, merge_request)
    else:
        keys = {project.id: project.repository_key}
        mergeability = cached_mergeabilities(store, keys, [merge_request]).get(merge_request.id)
    version = latest_version(db, merge_request.id)
    view = merge_request_detail_view(
        db, merge_request, base, merge_requirements(db, project), mergeability, version, users
    )
    view.subscribed = follows(call, db, merge_request, [user.id for user in view.assignees])
    _fill_merge_fields(db, call.actor, MergeRequestLookup(access, project, merge_request, ()), view, base)
    return view


def follows(call: Call | StagedCall, db: Connection, merge_request: MergeRequest, assignees: Sequence[int]) -> bool:
    """Return whether the caller receives notifications about the merge request."""
    return is_subscribed(db, call.actor.user_id, KIND, merge_request.id, (merge_request.author_id, *assignees))


def _fill_merge_fields(
    db: Connection,
    actor: Actor,
    lookup: MergeRequestLookup,
    view: MergeRequestDetailView,
    base: str,
) -> None:
    """Fill the fields of the detailed view that concern merging."""
    pipeline = head_pipeline(db, lookup.merge_request)
    projects = {} if pipeline is None else pipeline_projects(db, actor, [pipeline.project_id])
    if pipeline is not None and pipeline.project_id in projects:
        url = f"{base}/{projects[pipeline.project_id].full_path}"
        view.pipeline = view.head_pipeline = pipeline_brief(pipeline, url)
        view.latest_build_started_at = pipeline.started_at
        view.latest_build_finished_at = pipeline.finished_at
    view.first_contribution = is_first_contribution(db, lookup.project, lookup.merge_request)
    candidate = MergeCandidate(lookup, branch_rules(db, lookup.project.id))
    view.user = CallerPermissionsView(can_merge=may_merge(actor, lookup.access, candidate))


def pipeline_projects(db: Connection, actor: Actor, project_ids: Collection[int | None]) -> dict[int, Project]:
    """Return by id those projects whose pipelines the caller may see; a source project may be a private fork."""
    visible = {}
    for project_id in set(project_ids) - {None}:
        try:
            access, project = find_project(db, actor, project_id or 0)
        except Failure:
            continue
        if may_read_project_pipelines(actor, access, project):
            visible[project.id] = project
    return visible
