"""State changes of notification settings."""

import msgspec
from msgspec import UNSET
from sqlalchemy import bindparam, delete, text, update

from ingot.accounts.users.tables import User
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.notifications.params import (
    EVENT_FLAGS,
    LEVELS,
    OWN_ACTIVITY,
    UpdateGlobalNotificationSettings,
    UpdateNotificationSettings,
)
from ingot.notifications.queries import GLOBAL, confirmed_emails_of, notification_setting_or_none
from ingot.notifications.tables import notification_settings
from ingot.projects.namespaces.tables import memberships

_UPSERT = text(
    "INSERT INTO notification_settings (user_id, source_kind, source_id, level, events, email)"
    " VALUES (:user, :kind, :source, :level, :events, :email)"
    " ON CONFLICT (user_id, source_kind, source_id) DO UPDATE"
    " SET level = excluded.level, events = excluded.events, email = excluded.email"
)
_COPY = (
    update(memberships)
    .where(
        memberships.c.user_id == bindparam("user"),
        memberships.c.source_kind == bindparam("kind"),
        memberships.c.source_id == bindparam("source"),
    )
    .values(notification_level=bindparam("level"))
)
_OF_SOURCE = (notification_settings.c.source_kind == bindparam("kind")) & (
    notification_settings.c.source_id == bindparam("source")
)
_DELETE = delete(notification_settings).where(_OF_SOURCE, notification_settings.c.user_id == bindparam("user"))
_DELETE_ALL = delete(notification_settings).where(_OF_SOURCE)


def update_notification_setting(
    db: Connection, user: User, kind: str, source_id: int, params: UpdateNotificationSettings
) -> None:
    """Create or update a user's setting; omitted values stay unchanged."""
    current = notification_setting_or_none(db, user.id, kind, source_id)
    level = current.level if current else LEVELS["participating" if kind == GLOBAL else "global"]
    if params.level is not UNSET:
        level = LEVELS[params.level]
    if kind == GLOBAL and level == LEVELS["global"]:
        raise Invalid(level=["is invalid"])
    events = msgspec.json.decode(current.events, type=dict[str, bool]) if current else {}
    flags = (*EVENT_FLAGS, OWN_ACTIVITY)
    events |= {name: value for name, value in given_fields(params).items() if name in flags and value is not None}
    email = current.email if current else None
    if isinstance(params, UpdateGlobalNotificationSettings) and params.notification_email is not UNSET:
        email = params.notification_email.strip().lower()
        if email not in confirmed_emails_of(db, user):
            raise Invalid(notification_email=["is not an email you own"])
    row = {"user": user.id, "kind": kind, "source": source_id}
    db.run(_UPSERT, **row, level=level, events=msgspec.json.encode(events).decode(), email=email)
    db.run(_COPY, **row, level=level)


def copy_level_to_membership(db: Connection, user_id: int, kind: str, source_id: int) -> None:
    """Copy an existing setting to the row of a new membership."""
    setting = notification_setting_or_none(db, user_id, kind, source_id)
    if setting is not None:
        db.run(_COPY, user=user_id, kind=kind, source=source_id, level=setting.level)


def delete_notification_setting(db: Connection, user_id: int, kind: str, source_id: int) -> None:
    """Delete the setting of a user who is no longer a member."""
    db.run(_DELETE, user=user_id, kind=kind, source=source_id)


def delete_notification_settings(db: Connection, kind: str, source_id: int) -> None:
    """Delete all settings of a deleted project or group."""
    db.run(_DELETE_ALL, kind=kind, source=source_id)
