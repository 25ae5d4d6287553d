"""State changes of members and access requests of groups and projects."""

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, delete, select, update

from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date
from ingot.core.errors import Conflict, Denied, Invalid, NotFound
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.members.queries import MemberSource, has_other_owner, membership_or_none, request_or_none
from ingot.projects.namespaces.group_rules import require_unlocked_members
from ingot.projects.namespaces.tables import Membership, access_requests, invitations, memberships

GLOBAL_NOTIFICATIONS = 3
LEVELS = {"group": frozenset({10, 20, 30, 40, 50}), "project": frozenset({10, 20, 30, 40})}
_TABLES = (memberships, access_requests, invitations)
_DELETIONS = tuple(
    delete(table).where(table.c.source_kind == bindparam("kind"), table.c.source_id == bindparam("source"))
    for table in _TABLES
)
_EXPIRED = select(memberships).where(memberships.c.expires_at <= bindparam("today")).order_by(memberships.c.id)
_MOVES = tuple(
    update(table)
    .where(table.c.source_kind == bindparam("kind"), table.c.source_id == bindparam("source"))
    .values(namespace_id=bindparam("moved_to"))
    for table in _TABLES
)


def add_member(
    db: Connection,
    actor: Actor,
    access: Access,
    source: MemberSource,
    user_id: int,
    level: int,
    expires_at: Date | None,
) -> None:
    """Add a member; raise Denied if the level is higher than the caller's own, or the group locks memberships."""
    _require_unlocked(db, source)
    check_level(actor, access, source, level)
    user = find_user(db, user_id)
    if user.placeholder or user.bot:
        raise Invalid(user_id=["is invalid"])
    existing = membership_or_none(db, source, user_id)
    if existing is not None and (existing.expires_at is None or existing.expires_at > db.today):
        raise Conflict("Member already exists")
    write_membership(db, source, user_id, level, expires_at, actor.user_id)


def write_membership(
    db: Connection,
    source: MemberSource,
    user_id: int,
    level: int,
    expires_at: Date | None = None,
    by: int | None = None,
) -> None:
    """Write a membership without a permission check; replaces an expired one and deletes the user's access request."""
    db.must_hold_part(NAMESPACES)
    expired = membership_or_none(db, source, user_id)
    if expired is not None:
        db.delete(memberships, expired.id)
    request = request_or_none(db, source, user_id)
    if request is not None:
        db.delete(access_requests, request.id)
    db.insert_row(
        memberships,
        source_kind=source.kind,
        source_id=source.id,
        namespace_id=source.namespace_id,
        user_id=user_id,
        access_level=level,
        notification_level=GLOBAL_NOTIFICATIONS,
        expires_at=expires_at,
        created_at=db.now,
        created_by_id=by or None,
    )
    emit(db, MemberAdded(source.kind, source.id, user_id, level, db.now, owns=source.owner_id == user_id))


def edit_member(
    db: Connection,
    actor: Actor,
    access: Access,
    source: MemberSource,
    user_id: int,
    level: int,
    expires_at: Date | UnsetType | None,
) -> None:
    """Change the level or expiry of a member; raise Denied if the member's level is higher than the caller's."""
    membership = _find_membership(db, source, user_id)
    if find_user(db, user_id).bot:
        raise Denied("The access of a bot follows from its access token")
    check_level(actor, access, source, max(level, membership.access_level) if level in LEVELS[source.kind] else level)
    new_expiry = membership.expires_at if expires_at is UNSET else expires_at
    if source.owner_id == user_id and (level < membership.access_level or new_expiry is not None):
        raise Denied("The access of the project's owner cannot be limited")
    if level < Level.OWNER or new_expiry is not None:
        _require_other_owner(db, source, membership)
    db.update(memberships, membership.id, access_level=level, expires_at=new_expiry)


def remove_member(db: Connection, actor: Actor, access: Access, source: MemberSource, user_id: int) -> None:
    """Remove a member; members may always remove themselves, except the last owner."""
    membership = _find_membership(db, source, user_id)
    if actor.user_id != user_id and not actor.admin and membership.access_level > access.level:
        raise Denied
    if source.owner_id == user_id:
        raise Denied("The owner of a project cannot be removed")
    _require_other_owner(db, source, membership)
    _delete(db, membership)


def request_access(db: Connection, actor: Actor, source: MemberSource) -> None:
    """Create an access request of the caller."""
    db.must_hold_part(NAMESPACES)
    if request_or_none(db, source, actor.user_id) is not None:
        raise Invalid(user=["already exists in source"])
    db.insert_row(
        access_requests,
        source_kind=source.kind,
        source_id=source.id,
        namespace_id=source.namespace_id,
        user_id=actor.user_id,
        requested_at=db.now,
    )


def approve_request(
    db: Connection, actor: Actor, access: Access, source: MemberSource, user_id: int, level: int
) -> None:
    """Make a user with an access request a member; raise NotFound if there is no request."""
    if request_or_none(db, source, user_id) is None:
        raise NotFound()
    _require_unlocked(db, source)
    check_level(actor, access, source, level)
    write_membership(db, source, user_id, level, None, actor.user_id)


def delete_access_request(db: Connection, source: MemberSource, user_id: int) -> None:
    """Delete an access request; raise NotFound if there is none."""
    request = request_or_none(db, source, user_id)
    if request is None:
        raise NotFound()
    db.delete(access_requests, request.id)


def delete_memberships(db: Connection, source: MemberSource) -> None:
    """Delete all memberships, access requests and invitations of a group or project that is being deleted."""
    for deletion in _DELETIONS:
        db.run(deletion, kind=source.kind, source=source.id)


def move_memberships(db: Connection, source: MemberSource, namespace_id: int) -> None:
    """Record that a project was moved to another namespace."""
    for move in _MOVES:
        db.run(move, kind=source.kind, source=source.id, moved_to=namespace_id)


def delete_expired_memberships(db: Connection) -> int:
    """Delete expired memberships, which have not counted since their expiry, and return their number."""
    expired = db.all(Membership, _EXPIRED, today=db.today)
    return sum(_delete(db, membership, expired=True) for membership in expired)


def _delete(db: Connection, membership: Membership, *, expired: bool = False) -> int:
    deleted = db.delete_counted(memberships, membership.id)
    if deleted:
        since = (membership.access_level, membership.created_at)
        emit(
            db, MemberRemoved(membership.source_kind, membership.source_id, membership.user_id, *since, expired=expired)
        )
    return deleted


def _find_membership(db: Connection, source: MemberSource, user_id: int) -> Membership:
    membership = membership_or_none(db, source, user_id)
    if membership is None:
        raise NotFound()
    return membership


def check_level(actor: Actor, access: Access, source: MemberSource, level: int) -> None:
    """Raise Invalid for a level that members of the source cannot have, Denied for one above the caller's own."""
    if level not in LEVELS[source.kind]:
        raise Invalid(access_level=["is not included in the list"])
    if level > access.level and not actor.admin:
        raise Denied


def _require_other_owner(db: Connection, source: MemberSource, membership: Membership) -> None:
    db.must_hold_part(NAMESPACES)
    if (
        source.kind == "group"
        and membership.access_level == Level.OWNER
        and not has_other_owner(db, source.id, membership.user_id)
    ):
        raise Denied("A group must have at least one owner")


def _require_unlocked(db: Connection, source: MemberSource) -> None:
    if source.kind == "project":
        require_unlocked_members(db, source.namespace_id)
