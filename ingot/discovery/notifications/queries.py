"""How it is found what users want to be told."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, func, or_, select

from ingot.accounts.users.tables import User, emails
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.discovery.notifications.params import LEVELS
from ingot.discovery.notifications.tables import NotificationSetting, notification_settings
from ingot.projects.namespaces.tables import namespace_tree, namespaces
from ingot.projects.projects.tables import Project

GLOBAL = "global"
_ROWS = notification_settings.c
_ONE = select(notification_settings).where(
    _ROWS.user_id == bindparam("user"), _ROWS.source_kind == bindparam("kind"), _ROWS.source_id == bindparam("source")
)
_ALL_OF_USER = select(notification_settings).where(_ROWS.user_id == bindparam("user"))
# The groups around a project, the nearest first.
_ANCESTOR_GROUPS = (
    select(namespaces.c.id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == namespaces.c.id)
    .where(namespace_tree.c.descendant_id == bindparam("namespace"), namespaces.c.kind == "group")
    .order_by(func.length(namespaces.c.full_path).desc())
)
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
    """How much a user wants to be told of a project, and which events they chose."""

    level: int
    events: dict[str, bool]


def notification_setting_or_none(db: Connection, user_id: int, kind: str, source_id: int) -> NotificationSetting | None:
    """What a user said of one place, if anything."""
    return db.first(NotificationSetting, _ONE, user=user_id, kind=kind, source=source_id)


def notification_settings_of(db: Connection, user_id: int) -> list[NotificationSetting]:
    """All that a user said, of whichever place."""
    return db.all(NotificationSetting, _ALL_OF_USER, user=user_id)


def confirmed_emails_of(db: Connection, user: User) -> list[str]:
    """Where mail for a user may go: the first address, and the further ones that were proven to be theirs."""
    return [user.email, *(email for (email,) in db.rows(_CONFIRMED, user=user.id))]


def notification_email_of(db: Connection, user: User) -> str:
    """Where they want their mail, as long as that address is theirs."""
    wish = notification_setting_or_none(db, user.id, GLOBAL, 0)
    chosen = wish.email if wish else None
    return chosen if chosen and chosen in confirmed_emails_of(db, user) else user.email


def ancestor_groups(db: Connection, project: Project) -> list[int]:
    """The groups around a project, the nearest first."""
    return [group_id for (group_id,) in db.rows(_ANCESTOR_GROUPS, namespace=project.namespace_id)]


def watchers_of(db: Connection, project: Project, groups: Sequence[int]) -> dict[int, set[str]]:
    """Who may want to hear of all, or of what they chose, and where they said so."""
    found: dict[int, set[str]] = {}
    for user_id, kind in db.rows(_WATCHERS, project=project.id, groups=list(groups)):
        found.setdefault(user_id, set()).add(kind)
    return found


def notification_levels_of(
    db: Connection, project: Project, groups: Sequence[int], user_ids: Collection[int]
) -> dict[int, EffectiveNotificationLevel]:
    """How much each of these users wants to be told of a project: what they said of the nearest place counts."""
    nearness = {("project", project.id): 0, (GLOBAL, 0): len(groups) + 1}
    nearness |= {("group", group_id): place for place, group_id in enumerate(groups, 1)}
    wishes: dict[int, list[NotificationSetting]] = {}
    for wish in db.all(NotificationSetting, _OF_USERS, project=project.id, groups=list(groups), users=list(user_ids)):
        wishes.setdefault(wish.user_id, []).append(wish)
    levels = {}
    for user_id in user_ids:
        said = sorted(wishes.get(user_id, ()), key=lambda wish: nearness[wish.source_kind, wish.source_id])
        counts = next((wish for wish in said if wish.level != LEVELS["global"]), None)
        events = msgspec.json.decode(counts.events, type=dict[str, bool]) if counts else {}
        levels[user_id] = EffectiveNotificationLevel(counts.level if counts else LEVELS["participating"], events)
    return levels
