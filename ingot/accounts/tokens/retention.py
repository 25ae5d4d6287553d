"""Deletion of old calls of tokens, so that their lists do not grow without limit."""

from sqlalchemy import bindparam, delete, func, select

from ingot.accounts.tokens.tables import token_audit_events
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration

RETENTION_DAYS = 90
MAX_EVENTS_PER_TOKEN = 1_000
_MAX_TOKENS_PER_RUN = 100
_DELETE_OLD = delete(token_audit_events).where(token_audit_events.c.created_at < bindparam("before"))
_OVER_LIMIT = (
    select(token_audit_events.c.token_id)
    .group_by(token_audit_events.c.token_id)
    .having(func.count() > MAX_EVENTS_PER_TOKEN)
    .limit(_MAX_TOKENS_PER_RUN)
)
_NEWEST_SURPLUS = (
    select(token_audit_events.c.id)
    .where(token_audit_events.c.token_id == bindparam("token"))
    .order_by(token_audit_events.c.id.desc())
    .offset(MAX_EVENTS_PER_TOKEN)
    .limit(1)
)
_DELETE_SURPLUS = delete(token_audit_events).where(
    token_audit_events.c.token_id == bindparam("token"), token_audit_events.c.id <= bindparam("newest")
)


def delete_old_token_audit_events(db: Connection) -> None:
    """Delete the calls that are older than 90 days, and all but the newest 1,000 of each token."""
    db.run(_DELETE_OLD, before=add_duration(db.now, days=-RETENTION_DAYS))
    for (token_id,) in db.rows(_OVER_LIMIT):
        db.run(_DELETE_SURPLUS, token=token_id, newest=db.value(_NEWEST_SURPLUS, token=token_id))
