"""Request parameters of notification settings."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params

LEVELS = {"disabled": 0, "participating": 1, "watch": 2, "global": 3, "mention": 4, "custom": 5}
LevelName = Literal["disabled", "participating", "watch", "global", "mention", "custom"]
Flag = bool | UnsetType


class UpdateNotificationSettings(Params):
    """Notification level of a project or group, and the events of the custom level."""

    level: LevelName | UnsetType = UNSET
    new_note: Flag = UNSET
    new_issue: Flag = UNSET
    reopen_issue: Flag = UNSET
    close_issue: Flag = UNSET
    reassign_issue: Flag = UNSET
    new_merge_request: Flag = UNSET
    reopen_merge_request: Flag = UNSET
    close_merge_request: Flag = UNSET
    reassign_merge_request: Flag = UNSET
    merge_merge_request: Flag = UNSET
    failed_pipeline: Flag = UNSET
    success_pipeline: Flag = UNSET


class UpdateGlobalNotificationSettings(UpdateNotificationSettings):
    """Global notification level and email."""

    notification_email: str | UnsetType = UNSET
    notified_of_own_activity: Flag = UNSET


OWN_ACTIVITY = "notified_of_own_activity"
"""Stored among the flags of the global setting: notifications about the user's own actions."""
ON_BY_DEFAULT = frozenset({"failed_pipeline"})
"""Notifications about failures are enabled unless turned off."""
EVENT_FLAGS = tuple(name for name in UpdateNotificationSettings.__struct_fields__ if name != "level")
