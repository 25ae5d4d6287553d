"""How custom attributes are found and listed."""

from sqlalchemy import bindparam, select

from ingot.custom_attributes.tables import CustomAttribute, custom_attributes
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.groups.members.queries import Source

_ON = {
    "project": select(custom_attributes).where(custom_attributes.c.project_id == bindparam("source")),
    "group": select(custom_attributes).where(custom_attributes.c.group_id == bindparam("source")),
}
_LISTS = {
    kind: list_query(on, custom_attributes.c.id, custom_attributes.c.key, custom_attributes.c.id)
    for kind, on in _ON.items()
}
_ONE = {kind: on.where(custom_attributes.c.key == bindparam("key")) for kind, on in _ON.items()}


def list_attributes(db: Connection, source: Source, page: Page) -> Listing[CustomAttribute]:
    """A page of what is noted on a project or group, by key."""
    return fetch_page(db, CustomAttribute, _LISTS[source.kind], page, source=source.id)


def attribute_or_none(db: Connection, source: Source, key: str) -> CustomAttribute | None:
    """What is noted under a key."""
    return db.first(CustomAttribute, _ONE[source.kind], source=source.id, key=key)


def find_attribute(db: Connection, source: Source, key: str) -> CustomAttribute:
    """The same, where there must be something."""
    attribute = attribute_or_none(db, source, key)
    if attribute is None:
        raise NotFound("Custom Attribute")
    return attribute
