"""What administrators noted on groups and projects, where lists of these ask for it."""

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
        custom_attributes.c.value == bindparam("noted"),
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
    """What can show it."""

    id: int
    custom_attributes: list[CustomAttributeView] | UnsetType


def ids_by_custom_attributes(
    db: Connection, actor: Actor, kind: SourceKind, wanted: dict[str, str] | None
) -> list[int] | None:
    """The groups or projects on which all this was noted; nothing where it is not asked for, or not theirs to ask."""
    if not wanted or not actor.admin:
        return None
    found = [
        {row[0] for row in db.rows(_IDS_WITH_ATTRIBUTE[kind], key=key, noted=value)}
        for key, value in attribute_filters(wanted)
    ]
    return sorted(set.intersection(*found))


def add_custom_attributes(db: Connection, actor: Actor, kind: SourceKind, views: Sequence[HasCustomAttributes]) -> None:
    """Show administrators what was noted on each of them."""
    if not views or not actor.admin:
        return
    noted: dict[int, list[CustomAttributeView]] = {}
    for source_id, key, value in db.rows(_ATTRIBUTES[kind], sources=[view.id for view in views]):
        noted.setdefault(source_id, []).append(CustomAttributeView(key, value))
    for view in views:
        view.custom_attributes = noted.get(view.id, [])
