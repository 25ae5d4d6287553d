"""State changes of custom attributes."""

from ingot.accounts.users.custom_attributes import validate_custom_attribute
from ingot.core.db.connection import Connection
from ingot.projects.custom_attributes.queries import attribute_or_none, find_attribute
from ingot.projects.custom_attributes.tables import ResourceCustomAttribute, custom_attributes
from ingot.projects.members.queries import MemberSource


def set_attribute(db: Connection, source: MemberSource, key: str, value: str) -> ResourceCustomAttribute:
    """Create or replace the attribute with this key."""
    validate_custom_attribute(key, value)
    existing = attribute_or_none(db, source, key)
    if existing is not None:
        db.update(custom_attributes, existing.id, value=value)
    elif source.kind == "project":
        db.insert_row(custom_attributes, project_id=source.id, key=key, value=value)
    else:
        db.insert_row(custom_attributes, group_id=source.id, key=key, value=value)
    return find_attribute(db, source, key)


def delete_attribute(db: Connection, attribute: ResourceCustomAttribute) -> None:
    """Delete an attribute."""
    db.delete(custom_attributes, attribute.id)
