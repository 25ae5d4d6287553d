"""State that a merge is based on, and the obstacles that it shows without git."""

from typing import NamedTuple

from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.approval_rules.state import lacks_approvals
from ingot.collaboration.merge_requests.merge.commit_messages import MessageContext
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions
from ingot.collaboration.merge_requests.merge.message_people import message_context, message_people
from ingot.collaboration.merge_requests.merge_checks import MergeObstacle, obstacle_before_git
from ingot.collaboration.merge_requests.mergeability_check import source_repository
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import (
    TargetProjectSummary,
    merge_request_by_id,
    merge_requirements,
    with_unresolved_discussions,
)
from ingot.collaboration.merge_requests.stacks.lower_layers import heads_below
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Invalid, NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, branch_tip
from ingot.git.history.log import commits_between
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.merge_request_commits import copy_commit
from ingot.pipelines.tables import Status
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.queries import branch_rules

_REASONS: dict[MergeObstacle, str] = {
    "not_open": "The merge request is not open.",
    "draft_status": "The merge request is a draft.",
    "title_regex": "The title does not have the form that the project requires.",
    "ci_must_pass": "The pipeline must succeed first.",
    "ci_still_running": "The pipeline is still running.",
    "discussions_not_resolved": "All discussions must be resolved first.",
    "not_approved": "The merge request must be approved first.",
    "requested_changes": "A reviewer has requested changes.",
    "commits_status": "Branch cannot be merged: it has no new commits, or one of its branches does not exist.",
    "conflict": "Branch cannot be merged",
    "need_rebase": "Branch cannot be merged: it must be rebased first.",
    "merge_request_blocked": "The merge request below it in the stack must be merged first.",
}


class MergeBlocked(Invalid):
    """The merge request cannot be merged; ``code`` is the reason for clients."""

    def __init__(self, obstacle: MergeObstacle) -> None:
        super().__init__(_REASONS[obstacle])
        self.code: MergeObstacle = obstacle


class MergeContext(NamedTuple):
    """State that a merge is based on, read in one transaction."""

    access: Access
    """The caller's access to the target project."""
    project: Project
    requirements: TargetProjectSummary
    merge_request: MergeRequest
    pipeline: Status | None
    unresolved: bool
    unapproved: bool
    repository: Repository
    source: Repository | None
    """The repository of the source branch; None if it was deleted."""
    tip: str
    messages: MessageContext
    lower_heads: tuple[str, ...] = ()
    """Heads of the layer below in a stack, whose commits are not merged again."""


def load_merge_context(database: Database, store: RepositoryStore, actor: Actor, merge_request_id: int) -> MergeContext:
    def read(db: Connection) -> MergeContext:
        merge_request = merge_request_by_id(db, merge_request_id)
        if merge_request.deleted_at is not None:
            raise NotFound("Merge Request")
        access, project = find_merge_access(db, actor, merge_request)
        repository = store.open(project.repository_key)
        pipeline = head_pipeline(db, merge_request)
        tip = branch_tip(repository, merge_request.target_branch)
        people = message_people(db, project, merge_request, actor.user_id)
        return MergeContext(
            access,
            project,
            merge_requirements(db, project),
            merge_request,
            pipeline.status if pipeline else None,
            bool(with_unresolved_discussions(db, [merge_request.id])),
            lacks_approvals(db, merge_request, project.options),
            repository,
            source_repository(db, store, repository, merge_request),
            tip or NO_OID,
            message_context(db, project, merge_request, people, repository, tip),
            heads_below(db, merge_request),
        )

    return database.read(read)


def find_merge_access(db: Connection, actor: Actor, merge_request: MergeRequest) -> tuple[Access, Project]:
    """Return the target project of a merge request; raise if the actor may not merge it, or it is hidden."""
    access, project = find_project(db, actor, merge_request.target_project_id)
    rules = branch_rules(db, project.id)
    # A scheduled merge, and one by a train, does not happen any more when merge requests are disabled.
    require(policy.may_read_merge_requests(actor, access, project))
    lookup = MergeRequestLookup(access, project, merge_request, ())
    require(policy.may_merge(actor, access, policy.MergeCandidate(lookup, rules)))
    return access, project


def fetch_head(context: MergeContext) -> None:
    """Fetch the head of a fork into the target repository, in case its push has not been processed yet."""
    if context.source is not None and context.source.path != context.repository.path:
        copy_commit(context.source, context.repository, context.merge_request.head_oid)


def require_ready(context: MergeContext, options: MergeOptions, *, later: bool) -> None:
    """Raise ``MergeBlocked`` or ``Conflict`` for obstacles that need no git operation."""
    merge_request = context.merge_request
    obstacle = obstacle_before_git(
        context.requirements,
        merge_request,
        context.pipeline,
        unresolved=context.unresolved,
        unapproved=context.unapproved,
        later=later,
    )
    if obstacle is not None:
        raise MergeBlocked(obstacle)
    require_head(merge_request, options)


def rule_obstacle(db: Connection, merge_request: MergeRequest) -> MergeBlocked | None:
    """Return the first obstacle besides its pipeline, git and permissions."""
    project = project_or_none(db, merge_request.target_project_id)
    if project is None:
        return None
    unresolved = bool(with_unresolved_discussions(db, [merge_request.id]))
    unapproved = lacks_approvals(db, merge_request, project.options)
    obstacle = obstacle_before_git(
        merge_requirements(db, project), merge_request, None, unresolved=unresolved, unapproved=unapproved, later=True
    )
    return None if obstacle is None else MergeBlocked(obstacle)


def require_head(merge_request: MergeRequest, options: MergeOptions) -> None:
    """Raise ``Conflict`` if the head is not the one that the caller has seen."""
    if options.sha is not None and options.sha.lower() != merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {merge_request.head_oid}")


def is_squash_requested(project: Project, merge_request: MergeRequest, options: MergeOptions) -> bool:
    """Return whether commits are to be squashed if there are several."""
    if project.squash_option in ("always", "never"):
        return project.squash_option == "always"
    return merge_request.squash if options.squash is None else options.squash


def should_squash(context: MergeContext, options: MergeOptions, base: str, head: str) -> bool:
    """Return whether to squash; a single commit stays as it is, unless the request has a message for it."""
    squash = is_squash_requested(context.project, context.merge_request, options)
    if not squash or options.squash_commit_message:
        return squash
    return len(commits_between(context.repository, base, head, 2)) > 1
