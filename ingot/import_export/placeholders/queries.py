"""Queries of the users of sources, with the callers who may see them."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, bindparam, or_, select, true

from ingot.accounts.users.tables import emails, users
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.import_export.tables import SourceUser, source_users
from ingot.projects.namespaces.tables import memberships, namespaces

_OWN = source_users.c.namespace_id.in_(select(namespaces.c.id).where(namespaces.c.owner_id == bindparam("actor")))
_OF_OWNED_GROUP = source_users.c.namespace_id.in_(
    select(memberships.c.source_id).where(
        memberships.c.source_kind == "group",
        memberships.c.user_id == bindparam("actor"),
        memberships.c.access_level >= int(Level.OWNER),
        or_(memberships.c.expires_at.is_(None), memberships.c.expires_at > bindparam("today")),
    )
)
_MANAGED = or_(_OWN, _OF_OWNED_GROUP)
_PROPOSED = and_(source_users.c.reassign_to_user_id == bindparam("actor"), source_users.c.status == "awaiting_approval")
_PROVEN_ADDRESSES = (
    select(users.c.email)
    .where(users.c.id == bindparam("actor"), users.c.proven_at.is_not(None))
    .union_all(select(emails.c.email).where(emails.c.user_id == bindparam("actor"), emails.c.proven_at.is_not(None)))
)
_CLAIMABLE = and_(source_users.c.placeholder, source_users.c.source_email.in_(_PROVEN_ADDRESSES))
_CONFIRMABLE = or_(_PROPOSED, _CLAIMABLE)


def _lists() -> dict[tuple[bool, bool], ListQuery]:
    queries = {}
    for admin in (False, True):
        for by_status in (False, True):
            visible: ColumnElement[bool] = true() if admin else or_(_MANAGED, _CONFIRMABLE)
            conditions = [visible, *([source_users.c.status == bindparam("status")] if by_status else [])]
            statement = select(source_users).where(*conditions)
            queries[admin, by_status] = list_query(statement, source_users.c.id, source_users.c.id.desc())
    return queries


_LISTS = _lists()
_BY_ID = select(source_users).where(source_users.c.id == bindparam("number"))
_MANAGED_IDS = select(source_users.c.id).where(in_list(source_users.c.id, "numbers"), _MANAGED)
_CONFIRMABLE_IDS = select(source_users.c.id).where(in_list(source_users.c.id, "numbers"), _CONFIRMABLE)
_NAMESPACE_PATHS = select(namespaces.c.id, namespaces.c.full_path).where(in_list(namespaces.c.id, "numbers"))
_PENDING = (
    select(source_users)
    .where(source_users.c.namespace_id == bindparam("namespace"), source_users.c.placeholder)
    .order_by(source_users.c.id)
)


def list_source_users(db: Connection, actor: Actor, page: Page, status: str | None) -> Listing[SourceUser]:
    """List the source users that the caller manages or may accept; all of them for administrators."""
    values = {} if actor.admin else {"actor": actor.user_id, "today": db.today}
    query = _LISTS[actor.admin, status is not None]
    return fetch_page(db, SourceUser, query, page, **values, **({"status": status} if status else {}))


def find_source_user(db: Connection, actor: Actor, number: int) -> SourceUser:
    """Return a source user that the caller may see; raise NotFound otherwise."""
    found = db.first(SourceUser, _BY_ID, number=number)
    if found is None or not (manages_source_user(db, actor, found) or may_confirm(db, actor, found)):
        raise NotFound("User")
    return found


def manages_source_user(db: Connection, actor: Actor, source_user: SourceUser) -> bool:
    """Return whether the caller owns the root namespace of a source user, or is an administrator."""
    return bool(managed_ids(db, actor, [source_user.id]))


def managed_ids(db: Connection, actor: Actor, numbers: Sequence[int]) -> set[int]:
    """Return the ids of those source users whose root namespace the caller owns; all for administrators."""
    if actor.admin or not numbers:
        return set(numbers)
    rows = db.rows(_MANAGED_IDS, numbers=list(numbers), actor=actor.user_id, today=db.today)
    return {number for (number,) in rows}


def may_confirm(db: Connection, actor: Actor, source_user: SourceUser) -> bool:
    """Return whether an assignment to the caller was proposed, or the caller has proven the source user's address."""
    return bool(confirmable_ids(db, actor, [source_user.id]))


def confirmable_ids(db: Connection, actor: Actor, numbers: Sequence[int]) -> set[int]:
    """Return the ids of those source users that the caller may take over."""
    rows = db.rows(_CONFIRMABLE_IDS, numbers=list(numbers), actor=actor.user_id) if numbers else []
    return {number for (number,) in rows}


def namespace_paths(db: Connection, namespace_ids: Sequence[int]) -> dict[int, str]:
    """Return the paths of the root namespaces that users are mapped in."""
    return dict(db.rows(_NAMESPACE_PATHS, numbers=list(namespace_ids))) if namespace_ids else {}


def placeholders_of(db: Connection, namespace_id: int) -> list[SourceUser]:
    """Return the source users of a root namespace that are not assigned to a real user."""
    return db.all(SourceUser, _PENDING, namespace=namespace_id)
