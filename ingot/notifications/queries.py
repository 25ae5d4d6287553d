"""Queries of notification settings."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, func, or_, select

from ingot.accounts.users.tables import User, emails
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.notifications.params import LEVELS
from ingot.notifications.tables import NotificationSetting, notification_settings
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.tables import Project

GLOBAL = "global"
_ROWS = notification_settings.c
_ONE = select(notification_settings).where(
    _ROWS.user_id == bindparam("user"), _ROWS.source_kind == bindparam("kind"), _ROWS.source_id == bindparam("source")
)
_ALL_OF_USER = select(notification_settings).where(_ROWS.user_id == bindparam("user"))
# Ancestor groups of a project, nearest first.
_ANCESTOR_GROUPS = (
    select(namespaces.c.id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == namespaces.c.id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"), namespaces.c.kind == "group")
    .order_by(func.length(namespaces.c.full_path).desc())
)
# Matched in the stored JSON, which has only values that differ from the defaults.
_SILENT_GROUP = _ANCESTOR_GROUPS.where(
    namespaces.c.options_document.contains('"emails_enabled":false', autoescape=True)
).limit(1)
_HERE = or_(
    (_ROWS.source_kind == "project") & (_ROWS.source_id == bindparam("project")),
    (_ROWS.source_kind == "group") & in_list(_ROWS.source_id, "groups"),
    _ROWS.source_kind == GLOBAL,
)
_OF_USERS = select(notification_settings).where(_HERE, in_list(_ROWS.user_id, "users"))
_WATCHERS = select(_ROWS.user_id, _ROWS.source_kind).where(
    _HERE, or_(_ROWS.level == LEVELS["watch"], _ROWS.level == LEVELS["custom"])
)
_CONFIRMED = select(emails.c.email).where(emails.c.user_id == bindparam("user"), emails.c.confirmed_at.is_not(None))


class EffectiveNotificationLevel(NamedTuple):
    """A user's notification level for a project, and the chosen events."""

    level: int
    events: dict[str, bool]


def sends_mail(db: Connection, project: Project) -> bool:
    """Return whether mail about a project is enabled, in the project and in all groups that contain it."""
    return project.options.emails_enabled and db.value(_SILENT_GROUP, namespace=project.namespace_id) is None


def notification_setting_or_none(db: Connection, user_id: int, kind: str, source_id: int) -> NotificationSetting | None:
    """Return a user's setting for a project, a group or globally, if any."""
    return db.first(NotificationSetting, _ONE, user=user_id, kind=kind, source=source_id)


def notification_settings_of(db: Connection, user_id: int) -> list[NotificationSetting]:
    """List all settings of a user."""
    return db.all(NotificationSetting, _ALL_OF_USER, user=user_id)


def confirmed_emails_of(db: Connection, user: User) -> list[str]:
    """Return the primary and the confirmed further email addresses of a user."""
    return [user.email, *(email for (email,) in db.rows(_CONFIRMED, user=user.id))]


def notification_email_of(db: Connection, user: User) -> str:
    """Return the address chosen for notifications if it is still confirmed, or else the primary one."""
    setting = notification_setting_or_none(db, user.id, GLOBAL, 0)
    email = setting.email if setting else None
    return email if email and email in confirmed_emails_of(db, user) else user.email


def ancestor_groups(db: Connection, project: Project) -> list[int]:
    """Return the ancestor groups of a project, nearest first."""
    return [group_id for (group_id,) in db.rows(_ANCESTOR_GROUPS, namespace=project.namespace_id)]


def watchers_of(db: Connection, project: Project, groups: Sequence[int]) -> dict[int, set[str]]:
    """Return users with the watch or custom level for a project, with the kinds of those settings."""
    kinds_by_user: dict[int, set[str]] = {}
    for user_id, kind in db.rows(_WATCHERS, project=project.id, groups=list(groups)):
        kinds_by_user.setdefault(user_id, set()).add(kind)
    return kinds_by_user


def notification_levels_of(
    db: Connection, project: Project, groups: Sequence[int], user_ids: Collection[int]
) -> dict[int, EffectiveNotificationLevel]:
    """Return the level of each user for a project; the setting of the nearest source applies."""
    nearness = {("project", project.id): 0, (GLOBAL, 0): len(groups) + 1}
    nearness |= {("group", group_id): distance for distance, group_id in enumerate(groups, 1)}
    settings_by_user: dict[int, list[NotificationSetting]] = {}
    for setting in db.all(
        NotificationSetting, _OF_USERS, project=project.id, groups=list(groups), users=list(user_ids)
    ):
        settings_by_user.setdefault(setting.user_id, []).append(setting)
    levels = {}
    for user_id in user_ids:
        by_nearness = sorted(
            settings_by_user.get(user_id, ()), key=lambda setting: nearness[setting.source_kind, setting.source_id]
        )
        effective = next((setting for setting in by_nearness if setting.level != LEVELS["global"]), None)
        events = msgspec.json.decode(effective.events, type=dict[str, bool]) if effective else {}
        levels[user_id] = EffectiveNotificationLevel(effective.level if effective else LEVELS["participating"], events)
    return levels
