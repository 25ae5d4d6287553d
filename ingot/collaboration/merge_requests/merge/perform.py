"""Merging: git works between short transactions, and the merge is retried if the target has moved meanwhile.

The transaction that records the intent to move the target also records a pending merge. The transaction that
records the move, even if only after a crash, marks the merge request as merged.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ingot.accounts.users.queries import user_or_none
from ingot.collaboration.merge_requests.merge.commit_messages import merge_message, squash_message
from ingot.collaboration.merge_requests.merge.context import (
    MergeBlocked,
    MergeContext,
    fetch_head,
    load_merge_context,
    require_head,
    require_ready,
    should_squash,
)
from ingot.collaboration.merge_requests.merge.merge_options import MergeOptions, decode_merge_options
from ingot.collaboration.merge_requests.merge.service import (
    MergeOutdated,
    MergePlan,
    abort_auto_merge,
    actor_for,
    await_checks,
    record_pending_merge,
    schedule_auto_merge,
)
from ingot.collaboration.merge_requests.merge.source_removal import remove_source_after_merge
from ingot.collaboration.merge_requests.merge.train_queries import branches_with_trains, train_tip
from ingot.collaboration.merge_requests.merge.train_service import join_train
from ingot.collaboration.merge_requests.merge_checks import (
    ACTIVE_STATUSES,
    AWAITED,
    obstacle_from_mergeability,
)
from ingot.collaboration.merge_requests.mergeability import Mergeability
from ingot.collaboration.merge_requests.mergeability_check import (
    check_mergeability_at,
    has_source_branch,
    store_mergeability,
)
from ingot.collaboration.merge_requests.pipelines import head_pipeline
from ingot.collaboration.merge_requests.queries import (
    merge_request_by_id,
)
from ingot.collaboration.merge_requests.stacks.lower_layers import follows_open_layer
from ingot.collaboration.merge_requests.stacks.own_commits import own_head
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, NotFound
from ingot.core.jobs.handlers import RetryLater
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.commits import CommitMetadata
from ingot.git.writing.merge_commits import MergeResult, TooManyCommits, merge_commit, squash_commit, squash_merge
from ingot.git.writing.merge_trees import MergeConflict
from ingot.git.writing.ref_updates import RefUpdate
from ingot.pipelines.tables import Status
from ingot.repositories.ref_changes.apply import change_refs, reconcile_predecessors
from ingot.repositories.ref_changes.branch_queue import branch_queue

_MAX_TRIES = 100
_RETRY_SECONDS = 5.0


class _TargetMoved(Exception):
    """The target branch has moved since the merge was prepared."""


class PreparedMerge(NamedTuple):
    """A merge whose commits exist, and the state that it is based on."""

    actor: Actor
    context: MergeContext
    options: MergeOptions
    result: MergeResult
    train_oid: str | None = None
    """The commit that a merge train has tested, if the result differs because of merges that skipped the train."""


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
    skips_train: bool = False,
    stacked: bool = False,
) -> None:
    """Merge, or with ``later`` schedule the merge if the pipeline is active, with ``awaits`` also if there is none yet.

    A ``scheduled`` merge is skipped if it was canceled. A merge at once that ``skips_train`` does not restart the merge
    train, if the project allows that. A ``stacked`` merge follows that of the layer below, on which it is rebased if
    that has rewritten commits. Raises ``MergeBlocked``, ``Denied``, and ``Conflict`` if the
    head is not the one that the caller has seen.
    """
    with branch_queue.turn(merge_request.target_project_id, merge_request.target_branch):
        waits_for = (*ACTIVE_STATUSES, *((None,) if awaits else ())) if later else ()
        merged = _merge_under_lock(
            database,
            store,
            actor,
            merge_request,
            options,
            waits_for=waits_for,
            scheduled=scheduled,
            skips_train=skips_train,
            stacked=stacked,
        )
    if merged is not None:
        remove_source_after_merge(database, store, actor, merged)


def add_to_train(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    options: MergeOptions,
    *,
    later: bool,
) -> None:
    """Add to the merge train, with ``later`` when the pipeline has succeeded; raise like ``merge``."""
    waits_for = ACTIVE_STATUSES if later else ()
    _merge_under_lock(
        database, store, actor, merge_request, options, waits_for=waits_for, scheduled=False, by_train=True
    )


def _merge_under_lock(
    database: Database,
    store: RepositoryStore,
    actor: Actor,
    merge_request: MergeRequest,
    options: MergeOptions,
    *,
    waits_for: Sequence[Status | None],
    scheduled: bool,
    by_train: bool = False,
    skips_train: bool = False,
    stacked: bool = False,
) -> MergePlan | None:
    """Merge with retries; return None if the merge is left to the pipeline, or was canceled.

    ``waits_for`` contains the statuses of the pipeline with which the merge is scheduled; None stands for no pipeline.
    """
    for _ in range(_MAX_TRIES):
        context = load_merge_context(database, store, actor, merge_request.id)
        if scheduled and not context.merge_request.merge_when_pipeline_succeeds:
            return None
        awaits_checks = _is_ready_later(context, options, later=bool(waits_for))
        fetch_head(context)
        # Only a merge that the user wants at once passes the trains.
        takes_train = context.project.options.has_merge_trains and (scheduled or by_train or bool(waits_for))
        try:
            if takes_train or awaits_checks or context.pipeline in waits_for:
                _require_mergeable(database, context, rebases=takes_train)
                joins = takes_train and not awaits_checks and context.pipeline not in waits_for
                schedule = join_train if joins else await_checks if awaits_checks else schedule_auto_merge
                chosen = msgspec.structs.replace(options, strategy="add_to_merge_train_when_checks_pass")
                database.write(
                    partial(
                        schedule,
                        actor=actor,
                        merge_request=context.merge_request,
                        options=chosen if takes_train else options,
                    )
                )
                return None
            _require_layers_below(database, context)
            train_oid = _skipped_tip_or_none(database, context) if skips_train else None
            _require_ancestry(database, context, stacked=stacked)
            return _move_target(database, actor, context, options, scheduled=scheduled, train_oid=train_oid)
        except (_TargetMoved, MergeOutdated):
            continue
    raise Conflict("The target branch keeps changing. Please try again.")


def _is_ready_later(context: MergeContext, options: MergeOptions, *, later: bool) -> bool:
    """Return whether a merge must wait for users to remove an obstacle; raise like ``require_ready`` for others."""
    try:
        require_ready(context, options, later=later)
    except MergeBlocked as error:
        if not (later and options.waits_for_checks and error.code in AWAITED):
            raise
        require_head(context.merge_request, options)
        return True
    return False


def _require_layers_below(database: Database, context: MergeContext) -> None:
    """Raise ``MergeBlocked`` if a layer below is in the merge train too: the merge would contain its commits."""
    if context.project.options.has_merge_trains:
        follows = partial(follows_open_layer, merge_request_id=context.merge_request.id)
        if database.read(follows):
            raise MergeBlocked("merge_request_blocked")


def _skipped_tip_or_none(database: Database, context: MergeContext) -> str | None:
    """Return the commit for which the train is to take the tip after the merge; None if there is nothing to skip."""
    project, branch = context.project, context.merge_request.target_branch
    if not project.options.may_skip_merge_trains or project.merge_method != "merge":
        return None

    def read(db: Connection) -> str | None:
        return train_tip(db, project, branch, context.tip) if branches_with_trains(db, project.id, [branch]) else None

    return database.read(read)


def _require_mergeable(database: Database, context: MergeContext, *, rebases: bool) -> None:
    """Raise ``MergeBlocked`` if git cannot merge the branches now; a train ``rebases`` the source if required."""
    _require_source(database, context)
    check = partial(
        check_mergeability_at, repository=context.repository, merge_request=context.merge_request, tip=context.tip
    )
    mergeability: Mergeability | None = "nothing" if context.tip == NO_OID else database.read(check)
    obstacle = obstacle_from_mergeability(context.requirements, mergeability or "conflict")
    if obstacle is not None and not (rebases and obstacle == "need_rebase"):
        raise MergeBlocked(obstacle)


def _require_source(database: Database, context: MergeContext) -> None:
    """Raise ``MergeBlocked`` if the source branch is deleted; its commits remain readable, but must not be merged."""
    if not has_source_branch(context.source, context.merge_request):
        _record_moved_target(database, context)
        raise MergeBlocked("commits_status")


def _require_ancestry(database: Database, context: MergeContext, *, stacked: bool) -> None:
    """Raise ``MergeBlocked`` if the target contains the head already, or if a rebase is required.

    A ``stacked`` merge is rebased by the server.
    """
    _require_source(database, context)
    tip, head = context.tip, context.merge_request.head_oid
    if tip == NO_OID:
        raise MergeBlocked("commits_status")
    merge_base = merge_base_or_none(context.repository, [tip, head])
    if merge_base == head:
        _record_moved_target(database, context)
        raise MergeBlocked("commits_status")
    if context.project.merge_method != "merge" and merge_base != tip and not stacked:
        raise MergeBlocked("need_rebase")


def _record_moved_target(database: Database, context: MergeContext) -> None:
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
    database: Database,
    actor: Actor,
    context: MergeContext,
    options: MergeOptions,
    *,
    scheduled: bool,
    train_oid: str | None,
) -> MergePlan:
    """Create the commits of the merge and move the target; raise ``_TargetMoved`` if it has moved meanwhile."""
    merge_request, repository = context.merge_request, context.repository
    try:
        result = _build_commits(repository, context, options)
    except TooManyCommits:
        raise MergeBlocked("need_rebase") from None
    except MergeConflict:
        store_conflict = partial(
            store_mergeability, merge_request=merge_request, tip=context.tip, mergeability="conflict"
        )
        database.write(store_conflict)
        _record_moved_target(database, context)
        raise MergeBlocked("conflict") from None
    prepared = PreparedMerge(actor, context, options, result, train_oid)
    return _move_target_to(database, [prepared], scheduled=scheduled)[0]


def merge_tested_results(database: Database, store: RepositoryStore, merges: Sequence[PreparedMerge]) -> bool:
    """Move the target to the last commit of merges that were tested together; return False if something has moved.

    All of them are merged at once, so the target never points at a commit between them, which was not tested.
    """
    merge_request = merges[-1].context.merge_request
    with branch_queue.turn(merge_request.target_project_id, merge_request.target_branch):
        try:
            plans = _move_target_to(database, merges, scheduled=True)
        except (_TargetMoved, MergeOutdated):
            return False
    for merged, plan in zip(merges, plans, strict=True):
        remove_source_after_merge(database, store, merged.actor, plan)
    return True


def _move_target_to(database: Database, merges: Sequence[PreparedMerge], *, scheduled: bool) -> list[MergePlan]:
    """Move the target to the result of the last merge; raise ``_TargetMoved`` if it has moved meanwhile."""
    last = merges[-1]
    context, commit = last.context, last.result.commit
    plans = [_plan(merge, commit, scheduled=scheduled) for merge in merges]
    updates = [RefUpdate(f"refs/heads/{context.merge_request.target_branch}", context.tip, commit)]

    def record(db: Connection) -> None:
        for merge, plan in zip(merges, plans, strict=True):
            record_pending_merge(db, merge.actor, plan)

    try:
        change_refs(
            database,
            context.repository,
            last.actor,
            context.project,
            updates,
            merges=True,
            in_intent_transaction=record,
            access=context.access,
        )
    except Conflict:
        raise _TargetMoved from None
    return plans


def _plan(merge: PreparedMerge, new_oid: str, *, scheduled: bool) -> MergePlan:
    context, result = merge.context, merge.result
    removes = context.merge_request.remove_source_branch
    if merge.options.should_remove_source_branch is not None:
        removes = merge.options.should_remove_source_branch
    return MergePlan(
        context.merge_request,
        context.project.merge_method,
        context.tip,
        new_oid,
        result.commit,
        result.squashed,
        removes,
        scheduled,
        merge.train_oid,
    )


def _build_commits(repository: Repository, context: MergeContext, options: MergeOptions) -> MergeResult:
    project, tip = context.project, context.tip
    source_oid, caller, linear = (
        context.merge_request.head_oid,
        context.messages.merged_by,
        project.merge_method != "merge",
    )
    head = own_head(repository, source_oid, tip, context.lower_heads, caller, linear=linear)
    if head == tip:  # Nothing remains without the commits of the layer below.
        raise MergeBlocked("commits_status")
    author = context.messages.author
    message = (options.commit_message or "").strip() or merge_message(context.messages)
    metadata = CommitMetadata(message, caller, caller)
    if not should_squash(context, options, tip, head):
        return MergeResult(head) if project.merge_method == "ff" else merge_commit(repository, tip, head, metadata)
    squash_text = (options.squash_commit_message or "").strip() or squash_message(context.messages)
    squash_metadata = CommitMetadata(squash_text, author, caller)
    if project.merge_method == "ff":
        commit = squash_commit(repository, tip, head, squash_metadata)
        return MergeResult(commit, commit)
    return squash_merge(repository, tip, head, squash_metadata, metadata)


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
    options = decode_merge_options(merge_request.merge_params)
    # A new pipeline has started, whose end triggers this job again; or the merge is left to a train.
    if pipeline not in (None, "success") or options.strategy == "merge_train":
        return
    # A push since then has canceled the schedule.
    options = msgspec.structs.replace(options, sha=merge_request.head_oid)
    try:
        merge(database, store, actor, merge_request, options, scheduled=True)
    except Conflict as error:
        raise RetryLater(_RETRY_SECONDS, str(error)) from None
    except MergeBlocked as error:
        if options.waits_for_checks and error.code in AWAITED:
            return  # A change of the checks triggers this job again.
        if error.code != "not_open":
            database.write(partial(abort_auto_merge, merge_request=merge_request, reason=str(error)))
    except (Denied, NotFound):
        reason = "The user who scheduled the merge may no longer merge it."
        database.write(partial(abort_auto_merge, merge_request=merge_request, reason=reason))
