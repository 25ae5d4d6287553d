"""Queries of badges."""

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.badges.tables import Badge, badges
from ingot.projects.members.queries import MemberSource
from ingot.projects.namespaces.tables import namespace_tree

_OWN = {
    "project": badges.c.project_id == bindparam("source"),
    "group": badges.c.group_id == bindparam("source"),
}
_BY_ID = {kind: select(badges).where(own, badges.c.id == bindparam("badge")) for kind, own in _OWN.items()}
_INHERITED = badges.c.group_id.in_(
    select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
)


@lru_cache(maxsize=256)
def _list_query(kind: str, named: bool) -> ListQuery:
    shown = or_(_OWN["project"], _INHERITED) if kind == "project" else _OWN["group"]
    matching = select(badges).where(shown)
    if named:
        matching = matching.where(badges.c.name == bindparam("badge_name"))
    return list_query(matching, badges.c.id, badges.c.id.asc())


def list_badges(db: Connection, source: MemberSource, name: str | None, page: Page) -> Listing[Badge]:
    """List the badges of a group, or those of a project including its groups' badges."""
    values: dict[str, Any] = {"source": source.id}
    if source.kind == "project":
        values["namespace"] = source.namespace_id
    if name is not None:
        values["badge_name"] = name
    return fetch_page(db, Badge, _list_query(source.kind, name is not None), page, **values)


def badge_or_none(db: Connection, source: MemberSource, badge_id: int) -> Badge | None:
    """Return a badge of this project or group; inherited badges are not found."""
    return db.first(Badge, _BY_ID[source.kind], source=source.id, badge=badge_id)


def find_badge(db: Connection, source: MemberSource, badge_id: int) -> Badge:
    """Return a badge of this project or group; raise NotFound if there is none."""
    badge = badge_or_none(db, source, badge_id)
    if badge is None:
        raise NotFound("Badge")
    return badge
