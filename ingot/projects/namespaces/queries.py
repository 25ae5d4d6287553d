"""Queries of namespaces."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, func, or_, select

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.search import is_indexed, search_term, text_search
from ingot.core.errors import NotFound
from ingot.projects.namespaces import policy
from ingot.projects.namespaces.params import ListNamespaces
from ingot.projects.namespaces.policy import is_unexpired
from ingot.projects.namespaces.tables import Namespace, memberships, namespace_tree, namespaces, path_redirects

_BY_ID = select(namespaces).where(namespaces.c.id == bindparam("namespace"))
_GROUPS_BY_ID = select(namespaces).where(in_list(namespaces.c.id, "groups"), namespaces.c.owner_id.is_(None))
_BY_PATH = select(namespaces).where(namespaces.c.full_path_key == bindparam("path"))
_BY_OLD_PATH = (
    select(namespaces)
    .join(path_redirects, path_redirects.c.namespace_id == namespaces.c.id)
    .where(path_redirects.c.full_path_key == bindparam("path"))
)
_IDS_OF_USERS = select(namespaces.c.owner_id, namespaces.c.id).where(in_list(namespaces.c.owner_id, "owners"))
_OF_USER = select(namespaces).where(namespaces.c.owner_id == bindparam("owner"))
_VISIBLE = select(namespaces.c.id).where(namespaces.c.id == bindparam("namespace"), policy.visible_namespaces())
_ANCESTORS = (
    select(namespace_tree.c.ancestor_id)
    .join(namespaces, namespaces.c.id == namespace_tree.c.ancestor_id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"))
    .order_by(func.length(namespaces.c.full_path), namespaces.c.id)
)
_SUBTREE = (
    select(namespaces)
    .join(namespace_tree, namespace_tree.c.descendant_id == namespaces.c.id)
    .where(namespace_tree.c.ancestor_id == bindparam("namespace"))
    .order_by(func.length(namespaces.c.full_path), namespaces.c.id)
)
_MEMBER_COUNTS = (
    select(namespace_tree.c.ancestor_id, func.count(memberships.c.user_id.distinct()))
    .join(memberships, memberships.c.source_id == namespace_tree.c.descendant_id)
    .where(
        in_list(namespace_tree.c.ancestor_id, "namespaces"),
        memberships.c.source_kind == "group",
        is_unexpired(memberships.c.expires_at),
    )
    .group_by(namespace_tree.c.ancestor_id)
)
_HELD = policy.packed_levels_in_groups("namespaces")
_INVITED = policy.packed_levels_by_invitation("namespaces")
_OLD_PATH = select(path_redirects.c.namespace_id).where(path_redirects.c.full_path_key == bindparam("path"))


@lru_cache(maxsize=16)
def _list_query(least: Level | None, search: str) -> ListQuery:
    matching = select(namespaces)
    if least is not None:
        matching = matching.where(policy.visible_namespaces(least))
    searched = (namespaces.c.full_path_key, namespaces.c.name_key)
    if search == "indexed":
        matching = matching.where(text_search(namespaces.c.id, "needle", *searched))
    elif search:
        matching = matching.where(or_(*(contains(column, "pattern") for column in searched)))
    return list_query(matching, namespaces.c.id, namespaces.c.id.asc())


def list_namespaces(db: Connection, actor: Actor, params: ListNamespaces, page: Page) -> Listing[Namespace]:
    """List the namespaces that the caller may see, or only those that they own."""
    least = Level.OWNER if params.owned_only else None if actor.admin else Level.GUEST
    values: dict[str, Any] = {} if least is None else {"actor": actor.user_id, "today": db.today}
    search = ""
    if params.search and is_indexed(params.search):
        search, values["needle"] = "indexed", search_term(params.search)
    elif params.search:
        search, values["pattern"] = "short", like_pattern(params.search)
    return fetch_page(db, Namespace, _list_query(least, search), page, **values)


def namespace_or_none(db: Connection, name: str) -> Namespace | None:
    """Return the namespace with this id or full path, without a permission check."""
    number = number_or_none(name)
    if number is not None:
        return db.first(Namespace, _BY_ID, namespace=number)
    return db.first(Namespace, _BY_PATH, path=name.lower())


def find_namespace(db: Connection, actor: Actor, name: str) -> Namespace:
    """Return a visible namespace by its id or full path; raise NotFound otherwise."""
    namespace = namespace_or_none(db, name)
    if namespace is None or not _is_visible(db, actor, namespace):
        raise NotFound("Namespace")
    return namespace


def _is_visible(db: Connection, actor: Actor, namespace: Namespace) -> bool:
    return actor.admin or db.value(_VISIBLE, namespace=namespace.id, actor=actor.user_id, today=db.today) is not None


def namespace_by_id(db: Connection, namespace_id: int) -> Namespace:
    """Return the namespace with this id, without a permission check; raise NotFound if there is none."""
    namespace = db.first(Namespace, _BY_ID, namespace=namespace_id)
    if namespace is None:
        raise NotFound("Namespace")
    return namespace


def groups_by_ids(db: Connection, group_ids: Collection[int]) -> dict[int, Namespace]:
    """Return groups by id, without a permission check, in one statement."""
    return {group.id: group for group in db.all(Namespace, _GROUPS_BY_ID, groups=list(group_ids))}


def namespace_by_path(db: Connection, full_path: str) -> Namespace | None:
    """Return the namespace with this full path, without a permission check."""
    return db.first(Namespace, _BY_PATH, path=full_path.lower())


def namespace_by_old_path(db: Connection, full_path: str) -> Namespace | None:
    """Return the namespace that had this full path before it was moved or renamed."""
    return db.first(Namespace, _BY_OLD_PATH, path=full_path.lower())


def namespace_ids_of_users(db: Connection, user_ids: Sequence[int]) -> dict[int, int]:
    """Return the ids of the personal namespaces of users, in one statement."""
    return dict(db.rows(_IDS_OF_USERS, owners=list(user_ids)))


def namespace_of_user(db: Connection, user_id: int) -> Namespace:
    """Return the personal namespace of a user; raise NotFound if there is none."""
    namespace = db.first(Namespace, _OF_USER, owner=user_id)
    if namespace is None:
        raise NotFound("Namespace")
    return namespace


def ancestor_ids(db: Connection, namespace_id: int) -> list[int]:
    """Return the ids of a namespace and its ancestors, the topmost first."""
    return [row[0] for row in db.rows(_ANCESTORS, namespace=namespace_id)]


def subtree_of(db: Connection, namespace_id: int) -> list[Namespace]:
    """Return a namespace and all its descendants, parents before children."""
    return db.all(Namespace, _SUBTREE, namespace=namespace_id)


def member_counts(db: Connection, namespace_ids: list[int]) -> dict[int, int]:
    """Return the number of distinct members of each group and its descendants, by group id."""
    if not namespace_ids:
        return {}
    return {row[0]: row[1] for row in db.rows(_MEMBER_COUNTS, namespaces=namespace_ids, today=db.today)}


def actor_levels_in(db: Connection, actor: Actor, namespace_ids: list[int]) -> dict[int, int]:
    """Return the caller's highest level in each of these groups, including inherited levels."""
    values = {"namespaces": namespace_ids, "actor": actor.user_id, "today": db.today}
    if not namespace_ids:
        return {}
    levels: dict[int, int] = {row[0]: row[1] or 0 for row in db.rows(_INVITED, **values)}
    for namespace_id, packed in db.rows(_HELD, **values):
        unpacked = policy.unpack_levels(packed)
        if unpacked is not None:
            levels[namespace_id] = max(unpacked[0], levels.get(namespace_id, 0))
    return levels


def is_path_taken(db: Connection, actor: Actor, parent_id: int | None, path: str) -> bool:
    """Check whether a path is in use or redirects to a moved namespace, without revealing the owner.

    Every user can learn whether a top-level path is taken by trying to create it. Below a group only visible children
    are reported, so that the names of private subgroups stay hidden.
    """
    if parent_id is None:
        key = path.lower()
        return db.first(Namespace, _BY_PATH, path=key) is not None or db.value(_OLD_PATH, path=key) is not None
    parent = db.first(Namespace, _BY_ID, namespace=parent_id)
    if parent is None:
        return False
    child = db.first(Namespace, _BY_PATH, path=f"{parent.full_path_key}/{path}".lower())
    return child is not None and (_is_visible(db, actor, child) or child.visibility == "public")


def suggest_free_path(db: Connection, actor: Actor, parent_id: int | None, path: str) -> str:
    """Return the path with the lowest number appended that is free."""
    number = 1
    while is_path_taken(db, actor, parent_id, f"{path}{number}"):
        number += 1
    return f"{path}{number}"


def is_outsider(db: Connection, access: Access) -> bool:
    """Return whether a caller is about to change a project or group without a level of their own in it.

    Bots of access tokens must not, because their tokens are valid for one project or group only.
    """
    return access.level == Level.NONE and db.for_change
