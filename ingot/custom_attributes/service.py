"""What changes custom attributes."""

from ingot.custom_attributes.queries import attribute_or_none, find_attribute
from ingot.custom_attributes.tables import CustomAttribute, custom_attributes
from ingot.db.connection import Connection
from ingot.errors import Invalid
from ingot.groups.members.queries import Source

MOST_CHARACTERS = 255
LONGEST_VALUE = 65_535


def set_attribute(db: Connection, source: Source, key: str, value: str) -> CustomAttribute:
    """Note a value under a key, instead of the one before."""
    errors: dict[str, list[str]] = {}
    if not key.strip():
        errors["key"] = ["can't be blank"]
    elif len(key) > MOST_CHARACTERS:
        errors["key"] = [f"is too long (maximum is {MOST_CHARACTERS} characters)"]
    if not value:
        errors["value"] = ["can't be blank"]
    elif len(value) > LONGEST_VALUE:
        errors["value"] = [f"is too long (maximum is {LONGEST_VALUE} characters)"]
    if errors:
        raise Invalid(**errors)
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
