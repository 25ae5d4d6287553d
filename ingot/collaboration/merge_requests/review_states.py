"""Results of reviews besides approvals: reviewed, or changes requested, which block the merge."""

from collections.abc import Collection, Sequence
from typing import Literal

from sqlalchemy import bindparam, delete, select, text, update

from ingot.collaboration.merge_requests.events import Action
from ingot.collaboration.merge_requests.policy import MergeRequestLookup
from ingot.collaboration.merge_requests.service import (
    count_change_requests,
    emit_merge_request_changed,
    lock_merge_request_row,
)
from ingot.collaboration.merge_requests.tables import MergeRequest, merge_request_approvals, merge_request_reviewers
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.errors import Conflict

ReviewState = Literal["reviewed", "requested_changes"]
_STATES = select(
    merge_request_reviewers.c.merge_request_id, merge_request_reviewers.c.user_id, merge_request_reviewers.c.state
).where(
    in_list(merge_request_reviewers.c.merge_request_id, "merge_requests"), merge_request_reviewers.c.state.is_not(None)
)
_STATE = select(merge_request_reviewers.c.id, merge_request_reviewers.c.state).where(
    merge_request_reviewers.c.merge_request_id == bindparam("merge_request"),
    merge_request_reviewers.c.user_id == bindparam("user"),
)
_STORE_STATE = (
    update(merge_request_reviewers)
    .where(
        merge_request_reviewers.c.merge_request_id == bindparam("merge_request"),
        merge_request_reviewers.c.user_id == bindparam("user"),
    )
    .values(state=bindparam("new_state"))
)
_WITHDRAW_APPROVAL = delete(merge_request_approvals).where(
    merge_request_approvals.c.merge_request_id == bindparam("merge_request"),
    merge_request_approvals.c.user_id == bindparam("user"),
)
_COUNT_WITHOUT_USER = text(
    "UPDATE merge_requests SET change_requests = change_requests - 1 WHERE id IN (SELECT merge_request_id "
    "FROM merge_request_reviewers WHERE user_id = :user AND state = 'requested_changes')"
)
_CLEAR_USER = text("UPDATE merge_request_reviewers SET state = NULL WHERE user_id = :user AND state IS NOT NULL")


def review_states(db: Connection, merge_request_ids: Collection[int]) -> dict[tuple[int, int], ReviewState]:
    """Return the results of reviews by merge request and reviewer, in one statement."""
    rows = db.rows(_STATES, merge_requests=sorted(merge_request_ids)) if merge_request_ids else ()
    return {(merge_request_id, user_id): state for merge_request_id, user_id, state in rows}


def record_review(db: Connection, actor: Actor, lookup: MergeRequestLookup, state: ReviewState) -> None:
    """Record the result of the actor's review; raise Conflict if the merge request is not open.

    A request for changes makes the actor a reviewer. The author's own result has no effect, unless the author is one.
    """
    locked = lock_merge_request_row(db, lookup.merge_request)
    if locked.state != "opened":
        raise Conflict("The merge request is not open")
    row_id, before = next(iter(db.rows(_STATE, merge_request=locked.id, user=actor.user_id)), (None, None))
    if before == state or (row_id is None and (state == "reviewed" or locked.author_id == actor.user_id)):
        return
    if row_id is None:
        db.insert_row(merge_request_reviewers, merge_request_id=locked.id, user_id=actor.user_id, state=state)
    else:
        db.update(merge_request_reviewers, row_id, state=state)
    count_change_requests(db, locked.id)
    if state == "requested_changes":
        db.run(_WITHDRAW_APPROVAL, merge_request=locked.id, user=actor.user_id)
        reviewers = list(lookup.reviewers)
        changes: dict[str, tuple[object, object]] = {}
        if row_id is None:
            changes["reviewers"] = (reviewers, [*reviewers, actor.user_id])
        action: Action = "changes_requested"
        emit_merge_request_changed(db, actor.user_id, locked, action, changes)


def store_reviews(db: Connection, reviews: Sequence[tuple[int, int, ReviewState]]) -> None:
    """Store the results of imported reviews by merge request and reviewer, without events."""
    for merge_request_id, user_id, state in reviews:
        db.run(_STORE_STATE, merge_request=merge_request_id, user=user_id, new_state=state)
    for merge_request_id in dict.fromkeys(merge_request_id for merge_request_id, _, _ in reviews):
        count_change_requests(db, merge_request_id)


def withdraw_change_request(db: Connection, actor: Actor, lookup: MergeRequestLookup) -> None:
    """Withdraw the actor's request for changes, if there is one; raise Conflict if the merge request is not open."""
    locked = lock_merge_request_row(db, lookup.merge_request)
    if locked.state != "opened":
        raise Conflict("The merge request is not open")
    settle_change_request(db, locked, actor.user_id)


def settle_change_request(db: Connection, merge_request: MergeRequest, user_id: int) -> None:
    """Remove the user's request for changes from a locked merge request, if there is one."""
    row_id, state = next(iter(db.rows(_STATE, merge_request=merge_request.id, user=user_id)), (None, None))
    if row_id is not None and state == "requested_changes":
        db.update(merge_request_reviewers, row_id, state="reviewed")
        count_change_requests(db, merge_request.id)


def clear_review(db: Connection, merge_request: MergeRequest, user_id: int) -> None:
    """Remove the result of a review that requested no changes: those block the merge until the reviewer withdraws."""
    row_id, state = next(iter(db.rows(_STATE, merge_request=merge_request.id, user=user_id)), (None, None))
    if row_id is not None and state == "reviewed":
        db.update(merge_request_reviewers, row_id, state=None)


def settle_change_requests_of(db: Connection, user_id: int) -> None:
    """Remove all requests for changes of a user who is being deleted."""
    db.run(_COUNT_WITHOUT_USER, user=user_id)
    db.run(_CLEAR_USER, user=user_id)
