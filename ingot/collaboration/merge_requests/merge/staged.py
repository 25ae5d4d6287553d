"""Merging: git works between short transactions, and the merge is retried if the target has moved meanwhile.

The transaction that records the intent to move the target also records a pending merge. The transaction that
records the move, even if only after a crash, marks the merge request as merged.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.users.queries import user_or_none
from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.approval_rules.state import lacks_approvals
from ingot.collaboration.merge_requests.merge.commit_messages import MessageContext, merge_message, squash_message
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions, decode_merge_options
from ingot.collaboration.merge_requests.merge.message_people import message_context, message_people
from ingot.collaboration.merge_requests.merge.queries import merge_with_leftover_branch
from ingot.collaboration.merge_requests.merge.service import (
    MergeOutdated,
    MergePlan,
    abort_auto_merge,
    actor_for,
    delete_pending_merges,
    record_pending_merge,
    retarget_merge_requests,
    schedule_auto_merge,
)
from ingot.collaboration.merge_requests.merge_checks import (
    ACTIVE_STATUSES,
    MergeObstacle,
    obstacle_before_git,
    obstacle_from_mergeability,
)
from ingot.collaboration.merge_requests.mergeability import Mergeability
from ingot.collaboration.merge_requests.mergeability_check import (
    check_mergeability_at,
    has_source_branch,
    source_repository,
    store_mergeability,
)
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import (
    TargetProjectSummary,
    merge_request_by_id,
    merge_requirements,
    with_unresolved_discussions,
)
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.versions.source_tracker import HeadTracker
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.handlers import RetryLater
from ingot.errors import Conflict, Denied, Failure, Invalid, NotFound, Unavailable
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, branch_tip
from ingot.git.history.log import commits_between
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.commits import CommitMetadata
from ingot.git.writing.merge_commits import MergeResult, merge_commit, squash_commit, squash_merge
from ingot.git.writing.merge_request_commits import copy_commit
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefUpdate
from ingot.log import log_failure
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project
from ingot.repositories.pipelines.tables import Status
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.branch_queue import branch_queue
from ingot.repositories.ref_changes.staged import change_refs, reconcile_predecessors

_MAX_TRIES = 100
_RETRY_SECONDS = 5.0
_REASONS: dict[MergeObstacle, str] = {
    "not_open": "The merge request is not open.",
    "draft_status": "The merge request is a draft.",
    "ci_must_pass": "The pipeline must succeed first.",
    "ci_still_running": "The pipeline is still running.",
    "discussions_not_resolved": "All discussions must be resolved first.",
    "not_approved": "The merge request must be approved first.",
    "commits_status": "Branch cannot be merged: it has no new commits, or one of its branches does not exist.",
    "conflict": "Branch cannot be merged",
    "need_rebase": "Branch cannot be merged: it must be rebased first.",
}


class MergeBlocked(Invalid):
    """The merge request cannot be merged; ``code`` is the reason for clients."""

    def __init__(self, obstacle: MergeObstacle) -> None:
        super().__init__(_REASONS[obstacle])
        self.code: MergeObstacle = obstacle


class _TargetMoved(Exception):
    """The target branch has moved since the merge was prepared."""


class _MergeContext(NamedTuple):
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


def merge(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    options: MergeOptions,
    *,
    later: bool = False,
    awaits: bool = False,
    scheduled: bool = False,
) -> None:
    """Merge, or with ``later`` schedule the merge if the pipeline is active, with ``awaits`` also if there is none yet.

    A ``scheduled`` merge is skipped if it was canceled. Raises ``MergeBlocked``, ``Denied``, and ``Conflict`` if the
    head is not the one that the caller has seen.
    """
    with branch_queue.turn(merge_request.target_project_id, merge_request.target_branch):
        waits_for = (*ACTIVE_STATUSES, *((None,) if awaits else ())) if later else ()
        merged = _merge_under_lock(
            database, store, actor, merge_request, options, waits_for=waits_for, scheduled=scheduled
        )
    if merged is not None and merged.remove_source_branch:
        try:
            _finish_removal(database, store, actor, merged.merge_request)
        except Unavailable as error:  # The merge is complete; the job removes the branch.
            log_failure("source branch not removed yet", error, merge_request=merge_request.id)


def _merge_under_lock(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    options: MergeOptions,
    *,
    waits_for: Sequence[Status | None],
    scheduled: bool,
) -> MergePlan | None:
    """Merge with retries; return None if the merge is left to the pipeline, or was canceled.

    ``waits_for`` contains the statuses of the pipeline with which the merge is scheduled; None stands for no pipeline.
    """
    for _ in range(_MAX_TRIES):
        context = _load_context(database, store, actor, merge_request.id)
        if scheduled and not context.merge_request.merge_when_pipeline_succeeds:
            return None
        _require_ready(context, options, later=bool(waits_for))
        _fetch_head(context)
        try:
            if context.pipeline in waits_for:
                _require_mergeable(database, context)
                database.write(
                    partial(schedule_auto_merge, actor=actor, merge_request=context.merge_request, options=options)
                )
                return None
            return _move_target(database, actor, context, options, scheduled=scheduled)
        except (_TargetMoved, MergeOutdated):
            continue
    raise Conflict("The target branch keeps changing. Please try again.")


def _load_context(database: Database, store: RepositoryStore, actor: Actor, merge_request_id: int) -> _MergeContext:
    def read(db: Connection) -> _MergeContext:
        merge_request = merge_request_by_id(db, merge_request_id)
        if merge_request.deleted_at is not None:
            raise NotFound("Merge Request")
        access, project = find_project(db, actor, merge_request.target_project_id)
        rules = branch_rules(db, project.id)
        require(
            policy.may_merge(
                actor, access, policy.MergeCandidate(MergeRequestLookup(access, project, merge_request, ()), rules)
            )
        )
        repository = store.open(project.repository_key)
        pipeline = head_pipeline(db, merge_request)
        tip = branch_tip(repository, merge_request.target_branch)
        people = message_people(db, project, merge_request, actor.user_id)
        return _MergeContext(
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
        )

    return database.read(read)


def _fetch_head(context: _MergeContext) -> None:
    """Fetch the head of a fork into the target repository, in case its push has not been processed yet."""
    if context.source is not None and context.source.path != context.repository.path:
        copy_commit(context.source, context.repository, context.merge_request.head_oid)


def _require_ready(context: _MergeContext, options: MergeOptions, *, later: bool) -> None:
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
    if options.sha is not None and options.sha.lower() != merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {merge_request.head_oid}")


def _require_mergeable(database: Database, context: _MergeContext) -> None:
    """Raise ``MergeBlocked`` if git cannot merge the branches now."""
    _require_source(database, context)
    check = partial(
        check_mergeability_at, repository=context.repository, merge_request=context.merge_request, tip=context.tip
    )
    mergeability: Mergeability | None = "nothing" if context.tip == NO_OID else database.read(check)
    obstacle = obstacle_from_mergeability(context.requirements, mergeability or "conflict")
    if obstacle is not None:
        raise MergeBlocked(obstacle)


def _require_source(database: Database, context: _MergeContext) -> None:
    """Raise ``MergeBlocked`` if the source branch is deleted; its commits remain readable, but must not be merged."""
    if not has_source_branch(context.source, context.merge_request):
        _record_moved_target(database, context)
        raise MergeBlocked("commits_status")


def _require_ancestry(database: Database, context: _MergeContext) -> None:
    """Raise ``MergeBlocked`` if the target contains the head already, or if a rebase is required."""
    _require_source(database, context)
    tip, head = context.tip, context.merge_request.head_oid
    if tip == NO_OID:
        raise MergeBlocked("commits_status")
    merge_base = merge_base_or_none(context.repository, [tip, head])
    if merge_base == head:
        _record_moved_target(database, context)
        raise MergeBlocked("commits_status")
    if context.project.merge_method != "merge" and merge_base != tip:
        raise MergeBlocked("need_rebase")


def _record_moved_target(database: Database, context: _MergeContext) -> None:
    """Record the last move of the target if that has not happened yet.

    Raises ``MergeOutdated`` if this changes the state of the merge request. The move may be a merge of the same merge
    request, which is then complete.
    """
    move = RefUpdate(f"refs/heads/{context.merge_request.target_branch}", context.tip, NO_OID)
    reconcile_predecessors(database, context.repository, context.project.id, [move])
    current = database.read(partial(merge_request_by_id, merge_request_id=context.merge_request.id))
    if current.state != context.merge_request.state:
        raise MergeOutdated


def _move_target(
    database: Database, actor: Actor, context: _MergeContext, options: MergeOptions, *, scheduled: bool
) -> MergePlan:
    """Create the commits of the merge and move the target; raise ``_TargetMoved`` if it has moved meanwhile."""
    project, merge_request, repository = context.project, context.merge_request, context.repository
    _require_ancestry(database, context)
    try:
        result = _build_commits(repository, context, options)
    except MergeConflict:
        store_conflict = partial(
            store_mergeability, merge_request=merge_request, tip=context.tip, mergeability="conflict"
        )
        database.write(store_conflict)
        _record_moved_target(database, context)
        raise MergeBlocked("conflict") from None
    removes = merge_request.remove_source_branch
    if options.should_remove_source_branch is not None:
        removes = options.should_remove_source_branch
    plan = MergePlan(
        merge_request, project.merge_method, context.tip, result.commit, result.squashed, removes, scheduled
    )
    updates = [RefUpdate(f"refs/heads/{merge_request.target_branch}", context.tip, result.commit)]
    record = partial(record_pending_merge, actor=actor, plan=plan)
    try:
        change_refs(
            database,
            repository,
            actor,
            project,
            updates,
            merges=True,
            in_intent_transaction=record,
            access=context.access,
        )
    except Conflict:
        raise _TargetMoved from None
    return plan


def _build_commits(repository: Repository, context: _MergeContext, options: MergeOptions) -> MergeResult:
    project, merge_request, tip = context.project, context.merge_request, context.tip
    head = merge_request.head_oid
    author, caller = context.messages.author, context.messages.merged_by
    message = (options.commit_message or "").strip() or merge_message(context.messages)
    metadata = CommitMetadata(message, caller, caller)
    if not _should_squash(repository, context, options):
        return MergeResult(head) if project.merge_method == "ff" else merge_commit(repository, tip, head, metadata)
    squash_text = (options.squash_commit_message or "").strip() or squash_message(context.messages)
    squash_metadata = CommitMetadata(squash_text, author, caller)
    if project.merge_method == "ff":
        commit = squash_commit(repository, tip, head, squash_metadata)
        return MergeResult(commit, commit)
    return squash_merge(repository, tip, head, squash_metadata, metadata)


def _should_squash(repository: Repository, context: _MergeContext, options: MergeOptions) -> bool:
    """Return whether to squash; a single commit stays as it is, unless the request has a message for it."""
    option = context.project.squash_option
    squash = context.merge_request.squash if options.squash is None else options.squash
    if option in ("always", "never"):
        squash = option == "always"
    if not squash or options.squash_commit_message:
        return squash
    return len(commits_between(repository, context.tip, context.merge_request.head_oid, 2)) > 1


def remove_source_branch(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the merged source branch if that is permitted; failures are logged.

    The branch is removed only at the merged commit, so that later commits are not lost.
    """
    branch, ref = merge_request.source_branch, f"refs/heads/{merge_request.source_branch}"

    def read_remover(db: Connection) -> tuple[Project, Actor] | None:
        source = project_or_none(db, merge_request.source_project_id or 0)
        if (
            source is None
            or branch == source.default_branch
            or matching_branch_rules(branch_rules(db, source.id), branch)
        ):
            return None
        author = user_or_none(db, merge_request.author_id)
        # The author has requested the removal in advance, and may own a fork to which the merging user cannot push.
        requested = merge_request.remove_source_branch and author is not None and author.state == "active"
        return source, actor_for(author) if requested and author is not None else actor

    try:
        context = database.read(read_remover)
        if context is None:
            return
        source, remover = context
        repository, updates = store.open(source.repository_key), [RefUpdate(ref, merge_request.head_oid, NO_OID)]
        if repository.tip(ref) is not None:  # Else it is removed already, perhaps before a crash.
            change_refs(database, repository, remover, source, updates)
        retargeting_actor = actor if actor.known else remover
        for merge_request_id in database.write(
            lambda db: retarget_merge_requests(db, retargeting_actor, merge_request)
        ):
            HeadTracker(store).collect(database, merge_request_id)
    except (Failure, GitError, MissingRepository) as error:  # The merge itself is complete.
        log_failure("source branch not removed", error, merge_request=merge_request.id)


def remove_leftover_branch(database: Database, store: RepositoryStore, merge_request_id: int) -> None:
    """Remove the source branch of a merge whose process crashed before the removal; may run twice."""

    def read_merge(db: Connection) -> tuple[MergeRequest, Actor] | None:
        pending = merge_with_leftover_branch(db, merge_request_id)
        merge_request = merge_request_by_id(db, merge_request_id) if pending else None
        if pending is None or merge_request is None or merge_request.state != "merged":
            return None
        user = user_or_none(db, pending.actor_id or 0)
        actor = actor_for(user) if user is not None and user.state == "active" else Actor()
        return merge_request, actor

    context = database.read(read_merge)
    if context is not None:
        _finish_removal(database, store, context[1], context[0])


def _finish_removal(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the source branch and the pending merge."""
    remove_source_branch(database, store, actor, merge_request)
    database.write(partial(delete_pending_merges, merge_request_id=merge_request.id))


def run_auto_merge(database: Database, store: RepositoryStore, merge_request_id: int) -> None:
    """Run a scheduled merge in the name of the user who scheduled it; may run twice."""

    def read_schedule(db: Connection) -> tuple[MergeRequest, Actor, Status | None] | None:
        try:
            merge_request = merge_request_by_id(db, merge_request_id)
        except NotFound:
            return None
        if not merge_request.merge_when_pipeline_succeeds or merge_request.state != "opened":
            return None
        user = user_or_none(db, merge_request.merge_user_id or 0)
        pipeline = head_pipeline(db, merge_request)
        actor = actor_for(user) if user is not None and user.state == "active" else Actor()
        return merge_request, actor, pipeline.status if pipeline else None

    schedule = database.read(read_schedule)
    if schedule is None:
        return
    merge_request, actor, pipeline = schedule
    if pipeline not in (None, "success"):  # A new pipeline has started, whose end triggers this job again.
        return
    # A push since then has canceled the schedule.
    options = msgspec.structs.replace(decode_merge_options(merge_request.merge_params), sha=merge_request.head_oid)
    try:
        merge(database, store, actor, merge_request, options, scheduled=True)
    except Conflict as error:
        raise RetryLater(_RETRY_SECONDS, str(error)) from None
    except MergeBlocked as error:
        if error.code != "not_open":
            database.write(partial(abort_auto_merge, merge_request=merge_request, reason=str(error)))
    except (Denied, NotFound):
        reason = "The user who scheduled the merge may no longer merge it."
        database.write(partial(abort_auto_merge, merge_request=merge_request, reason=reason))
