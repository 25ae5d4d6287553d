"""Inviting groups into groups."""

from sqlalchemy import bindparam, delete

from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, day_of
from ingot.core.names import NAMESPACES
from ingot.errors import Conflict, Invalid
from ingot.projects.group_shares.queries import share_or_none
from ingot.projects.namespaces.tables import GroupShare, Namespace, group_shares

LEVELS = frozenset({10, 20, 30, 40, 50})
_DELETE_EXPIRED = delete(group_shares).where(group_shares.c.expires_at <= bindparam("today"))


def share_group(db: Connection, group: Namespace, invited: Namespace, level: int, expires_at: Date | None) -> None:
    """Let the members of a group belong to another one, at most at this level; only owners do it, who hold all."""
    db.must_hold(NAMESPACES)
    if level not in LEVELS:
        raise Invalid(group_access=["is not included in the list"])
    if invited.id == group.id:
        raise Conflict("Group cannot be shared with itself")
    held = share_or_none(db, group, invited.id)
    if held is not None and (held.expires_at is None or held.expires_at > day_of(db.now)):
        raise Conflict("Group already shared with this group")
    if held is not None:
        db.delete(group_shares, held.id)
    db.insert(
        group_shares,
        group_id=group.id,
        invited_id=invited.id,
        group_access=level,
        expires_at=expires_at,
        created_at=db.now,
    )


def unshare_group(db: Connection, share: GroupShare) -> None:
    """Take an invitation back; what came by it ends at once."""
    db.delete(group_shares, share.id)


def delete_expired_group_shares(db: Connection) -> int:
    """Remove shares whose time is over; they have not counted since."""
    return db.run(_DELETE_EXPIRED, today=day_of(db.now))
