"""How namespaces are found and listed."""

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, or_, select

from ingot.access.actor import Actor
from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.expressions import contains, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.groups import policy
from ingot.groups.params import ListNamespaces
from ingot.groups.tables import Namespace, namespaces

_BY_ID = select(namespaces).where(namespaces.c.id == bindparam("namespace"))
_BY_PATH = select(namespaces).where(namespaces.c.full_path_key == bindparam("path"))


@lru_cache(maxsize=16)
def _list_query(all_of_them: bool, search: bool) -> ListQuery:
    matching = select(namespaces)
    if not all_of_them:
        matching = matching.where(policy.visible_namespaces())
    if search:
        matching = matching.where(
            or_(contains(namespaces.c.full_path_key, "pattern"), contains(namespaces.c.name_key, "pattern"))
        )
    return list_query(matching, namespaces.c.id, namespaces.c.id.asc())


def list_namespaces(db: Connection, actor: Actor, wanted: ListNamespaces, page: Page) -> Listing[Namespace]:
    """A page of the namespaces that the caller may see."""
    values: dict[str, Any] = {} if actor.admin else {"actor": actor.user_id}
    if wanted.search:
        values["pattern"] = like_pattern(wanted.search)
    return fetch_page(db, Namespace, _list_query(actor.admin, bool(wanted.search)), page, **values)


def namespace_or_none(db: Connection, name: str) -> Namespace | None:
    """The namespace with this number or full path."""
    number = number_or_none(name)
    if number is not None:
        return db.first(Namespace, _BY_ID, namespace=number)
    return db.first(Namespace, _BY_PATH, path=name.lower())


def find_namespace(db: Connection, actor: Actor, name: str) -> Namespace:
    """The same, if the caller may see it."""
    namespace = namespace_or_none(db, name)
    if namespace is None or not policy.may_see_namespace(actor, namespace):
        raise NotFound("Namespace")
    return namespace


def path_is_taken(db: Connection, parent_id: int | None, path: str) -> bool:
    """Whether a path leads somewhere already; whose it is stays untold."""
    parent = db.first(Namespace, _BY_ID, namespace=parent_id) if parent_id is not None else None
    full_path = f"{parent.full_path_key}/{path}" if parent else path
    return db.first(Namespace, _BY_PATH, path=full_path.lower()) is not None


def free_path(db: Connection, parent_id: int | None, path: str) -> str:
    """The first path with a number behind it that is free."""
    number = 1
    while path_is_taken(db, parent_id, f"{path}{number}"):
        number += 1
    return f"{path}{number}"
