"""What is shown of one merge request about merging it: its pipeline, and who may."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Failure
from ingot.merge_requests.merging.policy import Candidate, may_merge
from ingot.merge_requests.merging.queries import head_pipeline
from ingot.merge_requests.policy import Found
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.views import CallerView, OneMergeRequestView
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.repository.pipelines.views import pipeline_brief
from ingot.repository.protection.queries import branch_rules
from ingot.statuses.policy import may_read_pipelines_of


def show_merging(
    db: Connection,
    actor: Actor,
    found: Found,
    view: OneMergeRequestView,
    base: str,
) -> None:
    """Fill in what concerns merging besides what lists show too."""
    pipeline = head_pipeline(db, found.merge_request)
    source = readable_source(db, actor, found.merge_request) if pipeline is not None else None
    if pipeline is not None and source is not None:
        view.pipeline = view.head_pipeline = pipeline_brief(pipeline, f"{base}/{source.full_path}")
        view.latest_build_started_at = pipeline.started_at
        view.latest_build_finished_at = pipeline.finished_at
    candidate = Candidate(found, branch_rules(db, found.project.id))
    view.user = CallerView(can_merge=may_merge(actor, found.here, candidate))


def readable_source(db: Connection, actor: Actor, merge_request: MergeRequest) -> Project | None:
    """The project that it comes from, for whoever may see the pipelines there; it may be a fork that is hidden."""
    try:
        here, source = find_project(db, actor, merge_request.source_project_id or 0)
    except Failure:
        return None
    return source if may_read_pipelines_of(actor, here, source) else None
