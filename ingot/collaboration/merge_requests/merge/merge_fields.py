"""Fields about merging in the detailed view: the pipeline, and whether the caller may merge."""

from ingot.collaboration.merge_requests.merge.policy import MergeCandidate, may_merge
from ingot.collaboration.merge_requests.merge.queries import head_pipeline
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.views import CallerPermissionsView, MergeRequestDetailView
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.errors import Failure
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.pipelines.views import pipeline_brief
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.statuses.policy import may_read_project_pipelines


def fill_merge_fields(
    db: Connection,
    actor: Actor,
    lookup: MergeRequestLookup,
    view: MergeRequestDetailView,
    base: str,
) -> None:
    """Fill the fields of the detailed view that concern merging."""
    pipeline = head_pipeline(db, lookup.merge_request)
    source = visible_source_or_none(db, actor, lookup.merge_request) if pipeline is not None else None
    if pipeline is not None and source is not None:
        view.pipeline = view.head_pipeline = pipeline_brief(pipeline, f"{base}/{source.full_path}")
        view.latest_build_started_at = pipeline.started_at
        view.latest_build_finished_at = pipeline.finished_at
    candidate = MergeCandidate(lookup, branch_rules(db, lookup.project.id))
    view.user = CallerPermissionsView(can_merge=may_merge(actor, lookup.here, candidate))


def visible_source_or_none(db: Connection, actor: Actor, merge_request: MergeRequest) -> Project | None:
    """Return the source project, or None if the caller may not see its pipelines; it may be a private fork."""
    try:
        access, source = find_project(db, actor, merge_request.source_project_id or 0)
    except Failure:
        return None
    return source if may_read_project_pipelines(actor, access, source) else None
