"""What is shown of one merge request about merging it: its pipeline, what stands in the way, who may."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Failure
from ingot.git.ancestry import is_ancestor
from ingot.git.commits import branch_tip
from ingot.git.repository import Repository
from ingot.merge_requests.merging.policy import Candidate, may_merge, obstacle_ahead
from ingot.merge_requests.merging.queries import head_pipeline
from ingot.merge_requests.policy import Found
from ingot.merge_requests.tables import MergeRequest
from ingot.merge_requests.views import CallerView, OneMergeRequestView
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.repository.pipelines.tables import Status
from ingot.repository.pipelines.views import pipeline_brief
from ingot.repository.protection.queries import branch_rules
from ingot.statuses.policy import may_read_pipelines_of


def show_merging(
    db: Connection,
    actor: Actor,
    repository: Repository,
    found: Found,
    view: OneMergeRequestView,
    base: str,
    *,
    asks_git: bool,
) -> None:
    """Fill in what concerns merging; with ``asks_git`` also whether the head has to be rebased first."""
    merge_request, project = found.merge_request, found.project
    pipeline = head_pipeline(db, merge_request)
    source = readable_source(db, actor, merge_request) if pipeline is not None else None
    if pipeline is not None and source is not None:
        view.pipeline = view.head_pipeline = pipeline_brief(pipeline, f"{base}/{source.full_path}")
        view.latest_build_started_at = pipeline.started_at
        view.latest_build_finished_at = pipeline.finished_at
    if view.detailed_merge_status == "mergeable":
        rebase = asks_git and _must_be_rebased(repository, project, merge_request)
        view.detailed_merge_status = (
            "need_rebase" if rebase else _status(project, merge_request, pipeline.status if pipeline else None)
        )
    candidate = Candidate(found, branch_rules(db, project.id))
    view.user = CallerView(can_merge=may_merge(actor, found.here, candidate))


def readable_source(db: Connection, actor: Actor, merge_request: MergeRequest) -> Project | None:
    """The project that it comes from, for whoever may see the pipelines there; it may be a fork that is hidden."""
    try:
        here, source = find_project(db, actor, merge_request.source_project_id or 0)
    except Failure:
        return None
    return source if may_read_pipelines_of(actor, here, source) else None


def _status(project: Project, merge_request: MergeRequest, pipeline: Status | None) -> str:
    return obstacle_ahead(project, merge_request, pipeline, undecided=False, later=False) or "mergeable"


def _must_be_rebased(repository: Repository, project: Project, merge_request: MergeRequest) -> bool:
    if project.merge_method == "merge":
        return False
    tip = branch_tip(repository, merge_request.target_branch)
    return tip is not None and not is_ancestor(repository, tip, merge_request.head_oid)
