"""State changes of group shares."""

from sqlalchemy import bindparam, delete

from ingot.core.db.connection import Connection
from ingot.core.db.times import Date
from ingot.core.errors import Conflict, Invalid
from ingot.core.names import NAMESPACES
from ingot.projects.group_shares.queries import share_or_none
from ingot.projects.namespaces.group_rules import require_sharing_allowed
from ingot.projects.namespaces.tables import GroupShare, Namespace, group_shares

LEVELS = frozenset({10, 20, 30, 40, 50})
_DELETE_EXPIRED = delete(group_shares).where(group_shares.c.expires_at <= bindparam("today"))


def share_group(db: Connection, group: Namespace, invited: Namespace, level: int, expires_at: Date | None) -> None:
    """Invite a group into another one with at most this level; raise Conflict if it is already invited.

    Does not compare the level with the caller's: only owners, who have the highest level, may call it.
    """
    db.must_hold(NAMESPACES)
    if level not in LEVELS:
        raise Invalid(group_access=["is not included in the list"])
    if invited.id == group.id:
        raise Conflict("Group cannot be shared with itself")
    require_sharing_allowed(db, group.id, invited.id)
    existing = share_or_none(db, group, invited.id)
    if existing is not None and (existing.expires_at is None or existing.expires_at > db.today):
        raise Conflict("Group already shared with this group")
    if existing is not None:
        db.delete(group_shares, existing.id)
    db.insert_row(
        group_shares,
        group_id=group.id,
        invited_id=invited.id,
        group_access=level,
        expires_at=expires_at,
        created_at=db.now,
    )


def unshare_group(db: Connection, share: GroupShare) -> None:
    """Delete a share; access through it ends at once."""
    db.delete(group_shares, share.id)


def delete_expired_group_shares(db: Connection) -> int:
    """Delete expired shares, which have not counted since their expiry, and return their number."""
    return db.run_counted(_DELETE_EXPIRED, today=db.today)
