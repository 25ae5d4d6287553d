"""Adding, changing and removing members, of a group or a project alike."""

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, delete, select, update

from ingot.accounts.users.queries import find_user
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, day_of
from ingot.core.events.bus import emit
from ingot.core.names import NAMESPACES
from ingot.errors import Conflict, Denied, Invalid, NotFound
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.members.queries import MemberSource, has_other_owner, membership_or_none, request_or_none
from ingot.projects.namespaces.tables import Membership, access_requests, memberships

GLOBAL_NOTIFICATIONS = 3
_LEVELS = {"group": frozenset({10, 20, 30, 40, 50}), "project": frozenset({10, 20, 30, 40})}
_DELETE_ALL = delete(memberships).where(
    memberships.c.source_kind == bindparam("kind"), memberships.c.source_id == bindparam("source")
)
_DELETE_REQUESTS = delete(access_requests).where(
    access_requests.c.source_kind == bindparam("kind"), access_requests.c.source_id == bindparam("source")
)
_EXPIRED = select(memberships).where(memberships.c.expires_at <= bindparam("today")).order_by(memberships.c.id)
_MOVES = tuple(
    update(table)
    .where(table.c.source_kind == bindparam("kind"), table.c.source_id == bindparam("source"))
    .values(namespace_id=bindparam("moved_to"))
    for table in (memberships, access_requests)
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
    """Let somebody belong; nobody gives more than they hold themselves."""
    _check_level(actor, access, source, level)
    if find_user(db, user_id).placeholder:
        raise Invalid(user_id=["is invalid"])
    held = membership_or_none(db, source, user_id)
    if held is not None and (held.expires_at is None or held.expires_at > day_of(db.now)):
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
    """Write a membership, whoever decided on it; a request of theirs is settled by it, one that ended goes."""
    db.must_hold(NAMESPACES)
    ended = membership_or_none(db, source, user_id)
    if ended is not None:
        db.delete(memberships, ended.id)
    request = request_or_none(db, source, user_id)
    if request is not None:
        db.delete(access_requests, request.id)
    db.insert(
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
    """Give a member another level or end; nobody touches those who hold more than they do."""
    held = _find_membership(db, source, user_id)
    _check_level(actor, access, source, max(level, held.access_level) if level in _LEVELS[source.kind] else level)
    ends = held.expires_at if expires_at is UNSET else expires_at
    if source.owner_id == user_id and (level < held.access_level or ends is not None):
        raise Denied("The owner of a project stays in it")
    if level < Level.OWNER or ends is not None:
        _require_other_owner(db, source, held)
    db.update(memberships, held.id, access_level=level, expires_at=ends)


def remove_member(db: Connection, actor: Actor, access: Access, source: MemberSource, user_id: int) -> None:
    """Let a member go; everybody may go by themselves."""
    held = _find_membership(db, source, user_id)
    if actor.user_id != user_id and not actor.admin and held.access_level > access.level:
        raise Denied
    if source.owner_id == user_id:
        raise Denied("The owner of a project stays in it")
    _require_other_owner(db, source, held)
    _delete(db, held)


def request_access(db: Connection, actor: Actor, source: MemberSource) -> None:
    """Ask to belong."""
    db.must_hold(NAMESPACES)
    if request_or_none(db, source, actor.user_id) is not None:
        raise Invalid(user=["already exists in source"])
    db.insert(
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
    """Let somebody belong who asked."""
    if request_or_none(db, source, user_id) is None:
        raise NotFound()
    _check_level(actor, access, source, level)
    write_membership(db, source, user_id, level, None, actor.user_id)


def delete_access_request(db: Connection, source: MemberSource, user_id: int) -> None:
    """Deny a request, or take one's own back."""
    request = request_or_none(db, source, user_id)
    if request is None:
        raise NotFound()
    db.delete(access_requests, request.id)


def delete_memberships(db: Connection, source: MemberSource) -> None:
    """Forget everybody, since the group or project goes."""
    db.run(_DELETE_ALL, kind=source.kind, source=source.id)
    db.run(_DELETE_REQUESTS, kind=source.kind, source=source.id)


def move_memberships(db: Connection, source: MemberSource, namespace_id: int) -> None:
    """Note that a project lives in another namespace now."""
    for move in _MOVES:
        db.run(move, kind=source.kind, source=source.id, moved_to=namespace_id)


def delete_expired_memberships(db: Connection) -> int:
    """Remove memberships whose time is over; they have not counted since."""
    ended = db.all(Membership, _EXPIRED, today=day_of(db.now))
    return sum(_delete(db, held, expired=True) for held in ended)


def _delete(db: Connection, held: Membership, *, expired: bool = False) -> int:
    dropped = db.delete(memberships, held.id)
    if dropped:
        since = (held.access_level, held.created_at)
        emit(db, MemberRemoved(held.source_kind, held.source_id, held.user_id, *since, expired=expired))
    return dropped


def _find_membership(db: Connection, source: MemberSource, user_id: int) -> Membership:
    held = membership_or_none(db, source, user_id)
    if held is None:
        raise NotFound()
    return held


def _check_level(actor: Actor, access: Access, source: MemberSource, level: int) -> None:
    if level not in _LEVELS[source.kind]:
        raise Invalid(access_level=["is not included in the list"])
    if level > access.level and not actor.admin:
        raise Denied


def _require_other_owner(db: Connection, source: MemberSource, held: Membership) -> None:
    db.must_hold(NAMESPACES)
    if source.kind == "group" and held.access_level == Level.OWNER and not has_other_owner(db, source.id, held.user_id):
        raise Denied("The last owner of a group must stay one")
