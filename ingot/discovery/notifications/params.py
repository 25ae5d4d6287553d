"""What callers may send about what they want to be told."""

from typing import Literal

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params

LEVELS = {"disabled": 0, "participating": 1, "watch": 2, "global": 3, "mention": 4, "custom": 5}
LevelName = Literal["disabled", "participating", "watch", "global", "mention", "custom"]
Flag = bool | UnsetType


class UpdateNotificationSettings(Params):
    """How much of one place, and of which events where the level leaves that open."""

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
    """The same of everywhere, and where mail goes."""

    notification_email: str | UnsetType = UNSET
    notified_of_own_activity: Flag = UNSET


OWN_ACTIVITY = "notified_of_own_activity"
"""Kept among the flags of what was said of everywhere: whether one hears of what one does oneself."""
ON_BY_DEFAULT = frozenset({"failed_pipeline"})
"""Of what failed people hear unless they said no."""
EVENT_FLAGS = tuple(name for name in UpdateNotificationSettings.__struct_fields__ if name != "level")
