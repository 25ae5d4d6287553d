"""Merging: git works between short transactions, and whoever finds the target moved meanwhile merges anew upon that.

What is about to happen is written down in the transaction of the intent to move the target; whoever records that it
has moved, be it after a crash, marks the merge request merged by that.
"""

import threading
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.users.queries import find_user, user_or_none
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.merge_requests.merge import policy
from ingot.collaboration.merge_requests.merge.commit_messages import merge_message, squash_message
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions, decode_merge_options
from ingot.collaboration.merge_requests.merge.mergeability_check import (
    check_mergeability_at,
    has_source_branch,
    source_repository,
    store_mergeability,
)
from ingot.collaboration.merge_requests.merge.policy import MergeCandidate
from ingot.collaboration.merge_requests.merge.queries import (
    head_pipeline,
    merge_with_leftover_branch,
    open_issues_to_close,
)
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
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.queries import merge_request_by_id, with_unresolved_discussions
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.merge_requests.versions.source_tracker import HeadTracker
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.jobs.handlers import RetryLater
from ingot.errors import Conflict, Denied, Failure, Invalid, NotFound, Unavailable
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, Signature, branch_tip
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
from ingot.repositories.ref_changes.staged import change_refs, reconcile_predecessors

_MAX_TRIES = 100
_RETRY_SECONDS = 5.0
_REASONS: dict[MergeObstacle, str] = {
    "not_open": "It is not open.",
    "draft_status": "It is a draft.",
    "ci_must_pass": "The pipeline of its head has to succeed first.",
    "ci_still_running": "The pipeline of its head is still running.",
    "discussions_not_resolved": "There are discussions about it that are not resolved.",
    "commits_status": "Branch cannot be merged: it brings nothing, or one of its branches is gone.",
    "conflict": "Branch cannot be merged",
    "need_rebase": "Branch cannot be merged: it has to be rebased first.",
}
# Within a process those who want the same target go one after the other, since all but one would try in vain.
_TARGET_LOCKS = tuple(threading.Lock() for _ in range(64))


class MergeBlocked(Invalid):
    """Something stands in the way; ``code`` says what, in the words that clients know."""

    def __init__(self, obstacle: MergeObstacle) -> None:
        super().__init__(_REASONS[obstacle])
        self.code: MergeObstacle = obstacle


class _TargetMoved(Exception):
    """Somebody else has moved the target meanwhile."""


class _MergeContext(NamedTuple):
    """All that a merge follows from, as it is at one moment."""

    access: Access
    """The caller's access to the target project."""
    project: Project
    merge_request: MergeRequest
    pipeline: Status | None
    unresolved: bool
    repository: Repository
    source: Repository | None
    """The repository of the source branch; None if it was deleted."""
    tip: str
    closes: list[Issue]
    caller: Signature
    author: Signature


def merge(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    options: MergeOptions,
    *,
    later: bool = False,
    waited: bool = False,
) -> None:
    """Merge, or with ``later`` let it be merged when the pipeline succeeds, where that is under way.

    One that has ``waited`` for that is not merged any more where somebody has cancelled it. Raises ``MergeBlocked``,
    ``Conflict`` where the head is another one than the caller knows of, and ``Denied``.
    """
    turn = hash((merge_request.target_project_id, merge_request.target_branch)) % len(_TARGET_LOCKS)
    with _TARGET_LOCKS[turn]:
        merged = _merge_under_lock(database, store, actor, merge_request, options, later=later, waited=waited)
    if merged is not None and merged.remove_source_branch:
        try:
            _finish_removal(database, store, actor, merged.merge_request)
        except Unavailable as error:  # It is merged; the job removes the branch.
            log_failure("source branch not removed yet", error, merge_request=merge_request.id)


def _merge_under_lock(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    options: MergeOptions,
    *,
    later: bool,
    waited: bool,
) -> MergePlan | None:
    """What was merged; nothing where that is left to the pipeline, or is not wanted any more."""
    for _ in range(_MAX_TRIES):
        ground = _load_context(database, store, actor, merge_request.id)
        if waited and not ground.merge_request.merge_when_pipeline_succeeds:
            return None
        _require_ready(ground, options, later=later)
        _fetch_head(ground)
        try:
            if later and ground.pipeline in ACTIVE_STATUSES:
                _require_mergeable(database, ground)
                database.write(
                    partial(schedule_auto_merge, actor=actor, merge_request=ground.merge_request, options=options)
                )
                return None
            return _move_target(database, actor, ground, options, waited=waited)
        except (_TargetMoved, MergeOutdated):
            continue
    raise Conflict("Others change the target branch all the time. Please try again.")


def _load_context(database: Database, store: RepositoryStore, actor: Actor, merge_request_id: int) -> _MergeContext:
    def look(db: Connection) -> _MergeContext:
        merge_request = merge_request_by_id(db, merge_request_id)
        if merge_request.deleted_at is not None:
            raise NotFound("Merge Request")
        access, project = find_project(db, actor, merge_request.target_project_id)
        rules = branch_rules(db, project.id)
        require(
            policy.may_merge(
                actor, access, MergeCandidate(MergeRequestLookup(access, project, merge_request, ()), rules)
            )
        )
        repository = store.open(project.repository_key)
        pipeline = head_pipeline(db, merge_request)
        return _MergeContext(
            access,
            project,
            merge_request,
            pipeline.status if pipeline else None,
            bool(with_unresolved_discussions(db, [merge_request.id])),
            repository,
            source_repository(db, store, repository, merge_request),
            branch_tip(repository, merge_request.target_branch) or NO_OID,
            open_issues_to_close(db, merge_request),
            commit_signature(db, actor.user_id),
            commit_signature(db, merge_request.author_id),
        )

    return database.read(look)


def _fetch_head(ground: _MergeContext) -> None:
    """Fetch the head of a fork into the target repository, in case whoever follows its push has not done so yet."""
    if ground.source is not None and ground.source.path != ground.repository.path:
        copy_commit(ground.source, ground.repository, ground.merge_request.head_oid)


def _require_ready(context: _MergeContext, options: MergeOptions, *, later: bool) -> None:
    """Stop what does not depend on how the commits go together."""
    merge_request = context.merge_request
    ahead = obstacle_before_git(
        context.project, merge_request, context.pipeline, unresolved=context.unresolved, later=later
    )
    if ahead is not None:
        raise MergeBlocked(ahead)
    if options.sha is not None and options.sha.lower() != merge_request.head_oid:
        raise Conflict(f"SHA does not match HEAD of source branch: {merge_request.head_oid}")


def _require_mergeable(database: Database, context: _MergeContext) -> None:
    """Stop what could not be merged now either."""
    _require_source(database, context)
    judged = partial(
        check_mergeability_at, repository=context.repository, merge_request=context.merge_request, tip=context.tip
    )
    verdict: Mergeability | None = "nothing" if context.tip == NO_OID else database.read(judged)
    found = obstacle_from_mergeability(context.project, verdict or "conflict")
    if found is not None:
        raise MergeBlocked(found)


def _require_source(database: Database, context: _MergeContext) -> None:
    """Stop what nobody offers any more: the commits are kept to be read, and not to be merged behind people's backs."""
    if not has_source_branch(context.source, context.merge_request):
        _record_moved_target(database, context)
        raise MergeBlocked("commits_status")


def _require_ancestry(database: Database, context: _MergeContext) -> None:
    """Stop what is there already, and what has to stand upon the target and does not."""
    _require_source(database, context)
    tip, head = context.tip, context.merge_request.head_oid
    if tip == NO_OID:
        raise MergeBlocked("commits_status")
    parted = merge_base_or_none(context.repository, [tip, head])
    if parted == head:
        _record_moved_target(database, context)
        raise MergeBlocked("commits_status")
    if context.project.merge_method != "merge" and parted != tip:
        raise MergeBlocked("need_rebase")


def _record_moved_target(database: Database, context: _MergeContext) -> None:
    """Where whoever brought the target to where it is has not recorded that yet, do it; then look again.

    It may have been a merge of the very same, which is over then, and no conflict.
    """
    arrived = RefUpdate(f"refs/heads/{context.merge_request.target_branch}", context.tip, NO_OID)
    reconcile_predecessors(database, context.repository, context.project.id, [arrived])
    now = database.read(partial(merge_request_by_id, merge_request_id=context.merge_request.id))
    if now.state != context.merge_request.state:
        raise MergeOutdated


def _move_target(
    database: Database, actor: Actor, context: _MergeContext, options: MergeOptions, *, waited: bool
) -> MergePlan:
    """Make the commits of a merge, and let the target have them; raises where somebody was faster."""
    project, merge_request, repository = context.project, context.merge_request, context.repository
    _require_ancestry(database, context)
    try:
        made = _build_commits(repository, context, options)
    except MergeConflict:
        known = partial(store_mergeability, merge_request=merge_request, tip=context.tip, found="conflict")
        database.write(known)
        _record_moved_target(database, context)
        raise MergeBlocked("conflict") from None
    removes = merge_request.remove_source_branch
    if options.should_remove_source_branch is not None:
        removes = options.should_remove_source_branch
    plan = MergePlan(merge_request, project.merge_method, context.tip, made.commit, made.squashed, removes, waited)
    moved = [RefUpdate(f"refs/heads/{merge_request.target_branch}", context.tip, made.commit)]
    along = partial(record_pending_merge, actor=actor, plan=plan)
    try:
        change_refs(database, repository, actor, project, moved, merges=True, along=along, access=context.access)
    except Conflict:
        raise _TargetMoved from None
    return plan


def _build_commits(repository: Repository, context: _MergeContext, options: MergeOptions) -> MergeResult:
    project, merge_request, tip = context.project, context.merge_request, context.tip
    head = merge_request.head_oid
    said = (options.commit_message or "").strip() or merge_message(project, merge_request, context.closes)
    words = CommitMetadata(said, context.caller, context.caller)
    if not _should_squash(repository, context, options):
        return MergeResult(head) if project.merge_method == "ff" else merge_commit(repository, tip, head, words)
    single = (options.squash_commit_message or "").strip() or squash_message(merge_request)
    squashed = CommitMetadata(single, context.author, context.caller)
    if project.merge_method == "ff":
        commit = squash_commit(repository, tip, head, squashed)
        return MergeResult(commit, commit)
    return squash_merge(repository, tip, head, squashed, words)


def _should_squash(repository: Repository, context: _MergeContext, options: MergeOptions) -> bool:
    """Whether many commits become one; one alone stays what it is, unless somebody has other words for it."""
    option = context.project.squash_option
    wanted = context.merge_request.squash if options.squash is None else options.squash
    if option in ("always", "never"):
        wanted = option == "always"
    if not wanted or options.squash_commit_message:
        return wanted
    return len(commits_between(repository, context.tip, context.merge_request.head_oid, 2)) > 1


def remove_source_branch(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove the branch that was merged, where that may be; else it stays.

    Only at the commit that was merged: what came after it, be it by another merge, is not lost.
    """
    branch, ref = merge_request.source_branch, f"refs/heads/{merge_request.source_branch}"

    def look(db: Connection) -> tuple[Project, Actor] | None:
        source = project_or_none(db, merge_request.source_project_id or 0)
        if (
            source is None
            or branch == source.default_branch
            or matching_branch_rules(branch_rules(db, source.id), branch)
        ):
            return None
        author = user_or_none(db, merge_request.author_id)
        # Who opened it has asked for that in advance, and may have a fork in which the other one may do nothing.
        asked_before = merge_request.remove_source_branch and author is not None and author.state == "active"
        return source, actor_for(author) if asked_before and author is not None else actor

    try:
        found = database.read(look)
        if found is None:
            return
        source, remover = found
        repository, gone = store.open(source.repository_key), [RefUpdate(ref, merge_request.head_oid, NO_OID)]
        if repository.tip(ref) is not None:  # Else somebody has removed it, and may have died then.
            change_refs(database, repository, remover, source, gone)
        turner = actor if actor.known else remover
        for number in database.write(lambda db: retarget_merge_requests(db, turner, merge_request)):
            HeadTracker(store).collect(database, number)
    except (Failure, GitError, MissingRepository) as error:  # It is merged all the same.
        log_failure("source branch not removed", error, merge_request=merge_request.id)


def remove_leftover_branch(database: Database, store: RepositoryStore, merge_request_id: int) -> None:
    """Remove the branch of a merge after which nobody came to it; safe to do twice."""

    def look(db: Connection) -> tuple[MergeRequest, Actor] | None:
        left = merge_with_leftover_branch(db, merge_request_id)
        merge_request = merge_request_by_id(db, merge_request_id) if left else None
        if left is None or merge_request is None or merge_request.state != "merged":
            return None
        user = user_or_none(db, left.actor_id or 0)
        actor = actor_for(user) if user is not None and user.state == "active" else Actor()
        return merge_request, actor

    found = database.read(look)
    if found is not None:
        _finish_removal(database, store, found[1], found[0])


def _finish_removal(database: Database, store: RepositoryStore, actor: Actor, merge_request: MergeRequest) -> None:
    """Remove it, and forget that it was to be removed."""
    remove_source_branch(database, store, actor, merge_request)
    database.write(partial(delete_pending_merges, merge_request_id=merge_request.id))


def merge_when_ready(database: Database, store: RepositoryStore, merge_request_id: int) -> None:
    """Merge what was to be merged when its pipeline succeeds, in the name of whoever wanted it; safe to do twice."""

    def look(db: Connection) -> tuple[MergeRequest, Actor, Status | None] | None:
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

    found = database.read(look)
    if found is None:
        return
    merge_request, actor, pipeline = found
    if pipeline not in (None, "success"):  # It began anew meanwhile: its end will be heard of.
        return
    # The head that was seen: what was pushed since drops the wish.
    wish = msgspec.structs.replace(decode_merge_options(merge_request.merge_params), sha=merge_request.head_oid)
    try:
        merge(database, store, actor, merge_request, wish, waited=True)
    except Conflict as error:
        raise RetryLater(_RETRY_SECONDS, str(error)) from None
    except MergeBlocked as error:
        if error.code != "not_open":
            database.write(partial(abort_auto_merge, merge_request=merge_request, reason=str(error)))
    except (Denied, NotFound):
        reason = "Whoever wanted it to be merged may not merge it any more."
        database.write(partial(abort_auto_merge, merge_request=merge_request, reason=reason))


def commit_signature(db: Connection, user_id: int) -> Signature:
    """Somebody as the commits name them that are made for them now."""
    user = find_user(db, user_id)
    return Signature(user.name or user.username, user.email, int(to_datetime(db.now).timestamp()), 0)
