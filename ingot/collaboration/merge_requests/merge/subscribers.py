"""Subscribers that update merge requests when branches move and pipelines end."""

from ingot.collaboration.merge_requests.events import MergeFailed
from ingot.collaboration.merge_requests.merge.queries import (
    auto_merges_from,
    open_merge_requests_at,
    open_merge_requests_with_heads,
    pending_merges_to,
)
from ingot.collaboration.merge_requests.merge.service import cancel_merge, enqueue_auto_merge, mark_merged
from ingot.collaboration.merge_requests.merge.todos import add_todos_of_readers
from ingot.collaboration.merge_requests.merge.train_service import continue_train, expel_from_train
from ingot.collaboration.merge_requests.merge_checks import scheduled_strategy
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.todos.service import mark_todos_done_by_action
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.pipelines.events import PipelineChanged
from ingot.pipelines.tables import TRAIN_SUFFIX
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()


@subscriptions.on(RefsChanged)
def mark_merged_by_push(db: Connection, event: RefsChanged) -> None:
    """Mark merge requests as merged when their target reaches the commit of a merge, or contains their head."""
    tips = {update.branch: update.new for update in event.updates if update.branch is not None and not update.deletes}
    for pending in pending_merges_to(db, event.project_id, tips) if tips else ():
        merge_request = merge_request_by_id(db, pending.merge_request_id)
        if tips[merge_request.target_branch] == pending.new_oid:
            mark_merged(db, merge_request, event.actor_id, pending)
            if pending.train_oid is not None:
                continue_train(db, merge_request, pending)
    for branch in filter(event.merged_heads.get, tips):
        heads = event.merged_heads[branch]
        for merge_request in open_merge_requests_with_heads(db, event.project_id, branch, heads):
            mark_merged(db, merge_request, event.actor_id, None)


@subscriptions.on(RefsChanged)
def cancel_auto_merge_on_push(db: Connection, event: RefsChanged) -> None:
    """Cancel scheduled merges of a pushed or deleted branch, because the user has not seen the new commits."""
    moved = {update.branch: update.deletes for update in event.updates if update.branch is not None}
    if moved:
        for merge_request in auto_merges_from(db, event.project_id, list(moved)):
            if scheduled_strategy(merge_request) == "merge_train":
                is_deleted = moved[merge_request.source_branch]
                reason = "The source branch was deleted." if is_deleted else "New commits were pushed."
                expel_from_train(db, merge_request, reason)
                continue
            cancel_merge(db, event.actor_id or merge_request.author_id, merge_request)


@subscriptions.on(PipelineChanged)
def enqueue_auto_merges(db: Connection, event: PipelineChanged) -> None:
    """Enqueue scheduled merges after a successful pipeline; add todos after a failed one.

    A failed or canceled pipeline leaves the merge scheduled, because it can be retried and succeed.
    """
    if event.status in ("created", "manual", "skipped") or event.ref.endswith(TRAIN_SUFFIX):
        return
    for merge_request in open_merge_requests_at(
        db, event.project_id, event.source_sha or event.sha, event.merge_request_id
    ):
        if event.status == "failed":
            # Without a scheduled merge there is no merge user.
            user_ids = [merge_request.author_id, merge_request.merge_user_id or merge_request.author_id]
            add_todos_of_readers(db, merge_request, user_ids, "build_failed")
        if event.status in ("failed", "canceled"):
            continue
        mark_todos_done_by_action(db, subject_of(merge_request), "build_failed")
        if merge_request.merge_when_pipeline_succeeds and event.status == "success":
            enqueue_auto_merge(db, merge_request.id)


@subscriptions.on(MergeFailed)
def add_todos_for_failed_merge(db: Connection, event: MergeFailed) -> None:
    """Add todos for the author and for the user who scheduled the merge."""
    merge_request = merge_request_by_id(db, event.merge_request_id)
    user_ids = (merge_request.author_id, event.merge_user_id or merge_request.author_id)
    add_todos_of_readers(db, merge_request, user_ids, "merge_train_removed" if event.from_train else "unmergeable")
