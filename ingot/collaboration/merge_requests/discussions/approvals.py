"""Who approves of merge requests: a plain list, which nothing depends on."""

from sqlalchemy import bindparam, delete, select, text

from ingot.collaboration.merge_requests.service import emit_merge_request_changed, lock_merge_request_row
from ingot.collaboration.merge_requests.tables import MergeRequest, merge_request_approvals
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.errors import NotFound, Unauthenticated

_BY = (
    select(merge_request_approvals.c.user_id)
    .where(merge_request_approvals.c.merge_request_id == bindparam("merge_request"))
    .order_by(merge_request_approvals.c.id)
)
_APPROVE = text(
    "INSERT INTO merge_request_approvals (merge_request_id, user_id, created_at) "
    "VALUES (:merge_request, :user, :now) ON CONFLICT (merge_request_id, user_id) DO NOTHING"
)
_UNAPPROVE = delete(merge_request_approvals).where(
    merge_request_approvals.c.merge_request_id == bindparam("merge_request"),
    merge_request_approvals.c.user_id == bindparam("user"),
)
_RESET = delete(merge_request_approvals).where(merge_request_approvals.c.merge_request_id == bindparam("merge_request"))


def approvers_of(db: Connection, merge_request_id: int) -> list[int]:
    """Who approves, in the order in which they came to."""
    return [number for (number,) in db.rows(_BY, merge_request=merge_request_id)]


def approve(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    """Let somebody approve; once, and only of what can still be merged."""
    held = lock_merge_request_row(db, merge_request)
    if held.state != "opened":
        raise Unauthenticated  # The contract's word for it here.
    if db.run(_APPROVE, merge_request=held.id, user=actor.user_id, now=db.now) == 0:
        raise Unauthenticated
    emit_merge_request_changed(db, actor.user_id, held, "approved")


def unapprove(db: Connection, actor: Actor, merge_request: MergeRequest) -> None:
    """Take an approval back."""
    held = lock_merge_request_row(db, merge_request)
    if db.run(_UNAPPROVE, merge_request=held.id, user=actor.user_id) == 0:
        raise NotFound
    emit_merge_request_changed(db, actor.user_id, held, "unapproved")


def reset_approvals(db: Connection, merge_request: MergeRequest) -> None:
    """Forget who approved."""
    db.run(_RESET, merge_request=merge_request.id)
