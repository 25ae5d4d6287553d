"""Custom attributes of users, set by administrators."""

from ingot.accounts.users.queries import custom_attribute_or_none
from ingot.accounts.users.tables import User, UserCustomAttribute, custom_attributes
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message

_MAX_KEY_LENGTH = 255
_MAX_VALUE_LENGTH = 65_535


def validate_custom_attribute(key: str, value: str) -> None:
    """Raise Invalid for an unusable key or value of a custom attribute of any object."""
    errors: dict[str, list[str]] = {}
    if not key.strip():
        errors["key"] = ["can't be blank"]
    elif len(key) > _MAX_KEY_LENGTH:
        errors["key"] = [too_long_message(_MAX_KEY_LENGTH)]
    if not value:
        errors["value"] = ["can't be blank"]
    elif len(value) > _MAX_VALUE_LENGTH:
        errors["value"] = [too_long_message(_MAX_VALUE_LENGTH)]
    if errors:
        raise Invalid(**errors)


def set_custom_attribute(db: Connection, user: User, key: str, value: str) -> UserCustomAttribute:
    """Create or update a custom attribute."""
    validate_custom_attribute(key, value)
    attribute = custom_attribute_or_none(db, user, key)
    if attribute is None:
        row_id = db.insert(custom_attributes, user_id=user.id, key=key, value=value)
        return UserCustomAttribute(row_id, user.id, key, value)
    db.update(custom_attributes, attribute.id, value=value)
    return UserCustomAttribute(attribute.id, user.id, key, value)


def delete_custom_attribute(db: Connection, user: User, key: str) -> None:
    """Delete a custom attribute, if there is one."""
    attribute = custom_attribute_or_none(db, user, key)
    if attribute is not None:
        db.delete(custom_attributes, attribute.id)
