"""Custom attributes in the lists of groups and projects; visible to administrators only."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import UnsetType
from sqlalchemy import bindparam, select

from ingot.accounts.users.queries import attribute_filters
from ingot.accounts.users.views import CustomAttributeView
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.namespaces.tables import SourceKind, custom_attributes

_IDS = {"project": custom_attributes.c.project_id, "group": custom_attributes.c.group_id}
_IDS_WITH_ATTRIBUTE = {
    kind: select(ids).where(
        ids.is_not(None),
        custom_attributes.c.key == bindparam("key"),
        custom_attributes.c.value == bindparam("value"),
    )
    for kind, ids in _IDS.items()
}
_ATTRIBUTES = {
    kind: select(ids, custom_attributes.c.key, custom_attributes.c.value)
    .where(in_list(ids, "sources"))
    .order_by(custom_attributes.c.key)
    for kind, ids in _IDS.items()
}


class HasCustomAttributes(Protocol):
    """View with an optional list of custom attributes."""

    id: int
    custom_attributes: list[CustomAttributeView] | UnsetType


def ids_by_custom_attributes(
    db: Connection, actor: Actor, kind: SourceKind, attributes: dict[str, str] | None
) -> list[int] | None:
    """Return the ids of the groups or projects that have all these attributes.

    Returns None, meaning no filter, if no attributes are given or the caller is not an administrator.
    """
    if not attributes or not actor.admin:
        return None
    matching_ids = [
        {row[0] for row in db.rows(_IDS_WITH_ATTRIBUTE[kind], key=key, value=value)}
        for key, value in attribute_filters(attributes)
    ]
    return sorted(set.intersection(*matching_ids))


def add_custom_attributes(db: Connection, actor: Actor, kind: SourceKind, views: Sequence[HasCustomAttributes]) -> None:
    """Set the custom attributes of each view if the caller is an administrator."""
    if not views or not actor.admin:
        return
    by_source: dict[int, list[CustomAttributeView]] = {}
    for source_id, key, value in db.rows(_ATTRIBUTES[kind], sources=[view.id for view in views]):
        by_source.setdefault(source_id, []).append(CustomAttributeView(key, value))
    for view in views:
        view.custom_attributes = by_source.get(view.id, [])
