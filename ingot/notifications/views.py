"""Response structs of notification settings."""

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.tables import User
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.notifications.params import EVENT_FLAGS, LEVELS, ON_BY_DEFAULT, OWN_ACTIVITY
from ingot.notifications.queries import confirmed_emails_of, notification_settings_of
from ingot.notifications.tables import NotificationSetting

_NAMES = {number: name for name, number in LEVELS.items()}


class NotificationEventsView(View):
    """Flags of single events."""

    new_note: bool
    new_issue: bool
    reopen_issue: bool
    close_issue: bool
    reassign_issue: bool
    new_merge_request: bool
    reopen_merge_request: bool
    close_merge_request: bool
    reassign_merge_request: bool
    merge_merge_request: bool
    failed_pipeline: bool
    success_pipeline: bool


class NotificationSettingsView(View):
    """Notification settings of a project or group; ``events`` is set only for the custom level."""

    level: str
    events: NotificationEventsView | UnsetType = UNSET


class GlobalNotificationSettingsView(NotificationSettingsView, kw_only=True):
    """Global notification settings."""

    notification_email: str
    notified_of_own_activity: bool | UnsetType = UNSET


def notification_settings_view(setting: NotificationSetting | None) -> NotificationSettingsView:
    """Return the settings of a project or group; the level defaults to "global"."""
    return NotificationSettingsView(_level(setting, "global"), _events(setting))


def global_notification_settings_view(
    setting: NotificationSetting | None, email: str
) -> GlobalNotificationSettingsView:
    """Return the global settings; the level defaults to "participating"."""
    flags = msgspec.json.decode(setting.events, type=dict[str, bool]) if setting else {}
    return GlobalNotificationSettingsView(
        level=_level(setting, "participating"),
        events=_events(setting),
        notification_email=email,
        notified_of_own_activity=flags.get(OWN_ACTIVITY, UNSET),
    )


def _level(setting: NotificationSetting | None, default: str) -> str:
    return _NAMES[setting.level] if setting else default


def _events(setting: NotificationSetting | None) -> NotificationEventsView | UnsetType:
    if setting is None or setting.level != LEVELS["custom"]:
        return UNSET
    flags = msgspec.json.decode(setting.events, type=dict[str, bool])
    return NotificationEventsView(*(flags.get(name, name in ON_BY_DEFAULT) for name in EVENT_FLAGS))


def level_names(db: Connection, user_id: int) -> dict[tuple[str, int], str]:
    """Return the notification levels that a user chose for groups and projects, by kind and id."""
    names = {number: name for name, number in LEVELS.items()}
    return {
        (setting.source_kind, setting.source_id): names[setting.level]
        for setting in notification_settings_of(db, user_id)
    }


def notification_addresses(db: Connection, user: User) -> list[str]:
    """Return the addresses that notifications may be sent to."""
    return confirmed_emails_of(db, user)
