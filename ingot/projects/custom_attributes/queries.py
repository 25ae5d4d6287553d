"""Queries of custom attributes."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.custom_attributes.tables import ResourceCustomAttribute, custom_attributes
from ingot.projects.members.queries import MemberSource

_ON = {
    "project": select(custom_attributes).where(custom_attributes.c.project_id == bindparam("source")),
    "group": select(custom_attributes).where(custom_attributes.c.group_id == bindparam("source")),
}
_LISTS = {
    kind: list_query(on, custom_attributes.c.id, custom_attributes.c.key, custom_attributes.c.id)
    for kind, on in _ON.items()
}
_ONE = {kind: on.where(custom_attributes.c.key == bindparam("key")) for kind, on in _ON.items()}


def list_attributes(db: Connection, source: MemberSource, page: Page) -> Listing[ResourceCustomAttribute]:
    """List the attributes of a project or group, ordered by key."""
    return fetch_page(db, ResourceCustomAttribute, _LISTS[source.kind], page, source=source.id)


def attribute_or_none(db: Connection, source: MemberSource, key: str) -> ResourceCustomAttribute | None:
    """Return the attribute with this key."""
    return db.first(ResourceCustomAttribute, _ONE[source.kind], source=source.id, key=key)


def find_attribute(db: Connection, source: MemberSource, key: str) -> ResourceCustomAttribute:
    """Return the attribute with this key; raise NotFound if there is none."""
    attribute = attribute_or_none(db, source, key)
    if attribute is None:
        raise NotFound("Custom Attribute")
    return attribute
