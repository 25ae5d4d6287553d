"""What changes custom attributes."""

from ingot.custom_attributes.queries import attribute_or_none, find_attribute
from ingot.custom_attributes.tables import CustomAttribute, custom_attributes
from ingot.db.connection import Connection
from ingot.groups.members.queries import Source
from ingot.users.accounts.service import refuse_unfit_attribute


def set_attribute(db: Connection, source: Source, key: str, value: str) -> CustomAttribute:
    """Note a value under a key, instead of the one before."""
    refuse_unfit_attribute(key, value)
    held = attribute_or_none(db, source, key)
    if held is not None:
        db.update(custom_attributes, held.id, value=value)
    elif source.kind == "project":
        db.insert(custom_attributes, project_id=source.id, key=key, value=value)
    else:
        db.insert(custom_attributes, group_id=source.id, key=key, value=value)
    return find_attribute(db, source, key)


def delete_attribute(db: Connection, attribute: CustomAttribute) -> None:
    """Forget what is noted under a key."""
    db.delete(custom_attributes, attribute.id)
