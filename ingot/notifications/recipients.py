"""Recipients of a notification: participants, subscribers and watchers with permission to see the subject."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select

from ingot.collaboration.notes.tables import notes
from ingot.collaboration.participants.queries import participants_of
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.participants.tables import mentioned_people
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.queries import explicit_subscriptions_to
from ingot.collaboration.subscriptions.tables import follows
from ingot.core.access.levels import Level as Access
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.notifications.params import LEVELS, OWN_ACTIVITY
from ingot.notifications.payload import Notification
from ingot.notifications.queries import (
    GLOBAL,
    EffectiveNotificationLevel,
    ancestor_groups,
    notification_levels_of,
    sends_mail,
    watchers_of,
)
from ingot.notifications.tables import notification_settings
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import Project, projects
from ingot.projects.sharing.queries import users_with_access

_MENTIONED_IN_TEXT = select(mentioned_people.c.user_id).where(
    mentioned_people.c.subject_kind == bindparam("kind"),
    mentioned_people.c.subject_id == bindparam("subject"),
    mentioned_people.c.note_id.is_(None),
)
_MENTIONED_IN_NOTE = select(mentioned_people.c.user_id).where(mentioned_people.c.note_id == bindparam("note"))
_LABEL_SUBSCRIBERS = select(follows.c.user_id).where(
    follows.c.subject_kind == "label", in_list(follows.c.subject_id, "labels"), follows.c.following.is_(True)
)
_ANCESTOR_GROUPS = (
    select(namespace_tree.c.ancestor_id)
    .join(projects, projects.c.namespace_id == namespace_tree.c.descendant_id)
    .where(projects.c.id == bindparam("project"))
)


def _watched(kind: str, where: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a user other than ``doer`` has the watch or custom level for a source of this kind."""
    level = notification_settings.c.level
    return exists().where(
        notification_settings.c.source_kind == kind,
        where,
        or_(level == LEVELS["watch"], level == LEVELS["custom"]),
        notification_settings.c.user_id != bindparam("doer"),
    )


# The acting user wants notifications about own actions; matched in the stored JSON.
_OWN = and_(
    notification_settings.c.user_id == bindparam("doer"),
    notification_settings.c.source_kind == GLOBAL,
    notification_settings.c.events.contains(f'"{OWN_ACTIVITY}":true', autoescape=True),
)
_NOTIFIED_OF_OWN = select(notification_settings.c.id).where(_OWN)
# Whether anyone but the acting user may be notified; most requests are spared a job without recipients.
_HAS_RECIPIENTS = select(
    or_(
        exists().where(
            follows.c.subject_kind == bindparam("kind"),
            follows.c.subject_id == bindparam("subject"),
            follows.c.user_id != bindparam("doer"),
        ),
        exists().where(
            mentioned_people.c.subject_kind == bindparam("kind"),
            mentioned_people.c.subject_id == bindparam("subject"),
            mentioned_people.c.user_id != bindparam("doer"),
        ),
        exists().where(
            notes.c.subject_kind == bindparam("kind"),
            notes.c.subject_id == bindparam("subject"),
            notes.c.author_id != bindparam("doer"),
            notes.c.system.is_(False),
        ),
        exists().where(
            follows.c.subject_kind == "label",
            in_list(follows.c.subject_id, "labels"),
            follows.c.user_id != bindparam("doer"),
        ),
        _watched("project", notification_settings.c.source_id == bindparam("project")),
        _watched("group", notification_settings.c.source_id.in_(_ANCESTOR_GROUPS.scalar_subquery())),
        _watched(GLOBAL, notification_settings.c.source_id == 0),
        exists().where(_OWN),
    )
)


class InterestedUsers(NamedTuple):
    """Users who may be notified of a change, by reason."""

    participants: Collection[int]
    mentioned: Collection[int]
    followers: Collection[int]
    """Explicit subscribers, notified regardless of their level."""
    watchers: Collection[int]
    unsubscribed: Collection[int]
    """Users who have unsubscribed."""


def has_possible_recipients(db: Connection, kind: SubjectKind, subject: Subject, notification: Notification) -> bool:
    """Return whether anyone may be notified: another user, or the acting user if notified of own actions."""
    if {subject.author_id, *notification.people} - {notification.actor_id}:
        return True
    # The assignees of a new subject are among the users of the notification.
    if notification.what != "opened" and set(kind.assignees(db, subject)) - {notification.actor_id}:
        return True
    values = {"kind": subject.kind, "subject": subject.id, "project": subject.project_id}
    return bool(db.value(_HAS_RECIPIENTS, **values, doer=notification.actor_id, labels=list(notification.labels)))


def recipients_of(
    db: Connection, kind: SubjectKind, subject: Subject, project: Project, notification: Notification, *, internal: bool
) -> list[int]:
    """Return the users to notify; the acting user only if they want notifications about their own actions."""
    if not sends_mail(db, project):
        return []
    groups = ancestor_groups(db, project)
    interested = _interested_users(db, kind, subject, project, groups, notification)
    candidates = {*interested.participants, *interested.mentioned, *interested.followers, *interested.watchers}
    candidates -= {0, *interested.unsubscribed}
    if db.value(_NOTIFIED_OF_OWN, doer=notification.actor_id) is None:
        candidates -= {notification.actor_id}
    levels = notification_levels_of(db, project, groups, candidates) if candidates else {}
    willing = [user_id for user_id in sorted(candidates) if _wants(user_id, levels[user_id], interested, notification)]
    readers = kind.readers(db, subject, willing, internal) if willing else ()
    return [user_id for user_id in willing if user_id in readers]


def mentioned_recipients(db: Connection, project: Project, people: Collection[int], actor_id: int) -> list[int]:
    """Return the mentioned users to notify; the acting user only if they want notifications about their own actions."""
    candidates = set(people) if sends_mail(db, project) else set()
    if actor_id in candidates and db.value(_NOTIFIED_OF_OWN, doer=actor_id) is None:
        candidates.remove(actor_id)
    levels = notification_levels_of(db, project, ancestor_groups(db, project), candidates) if candidates else {}
    return [user_id for user_id in sorted(candidates) if levels[user_id].level != LEVELS["disabled"]]


def _interested_users(
    db: Connection, kind: SubjectKind, subject: Subject, project: Project, groups: list[int], notification: Notification
) -> InterestedUsers:
    subscriptions = explicit_subscriptions_to(db, subject.kind, subject.id or 0)
    unsubscribed = {user_id for user_id, following in subscriptions.items() if not following}
    label_subscribers = {user_id for (user_id,) in db.rows(_LABEL_SUBSCRIBERS, labels=list(notification.labels))}
    if notification.what == "mentioned":
        return InterestedUsers((), notification.people, (), (), unsubscribed)
    if notification.what in ("review_requested", "changes_requested"):
        return InterestedUsers(notification.people, (), (), (), unsubscribed)
    if notification.what == "relabelled":
        return InterestedUsers((), (), label_subscribers, (), unsubscribed)
    if notification.note_id is not None:
        rows = db.rows(_MENTIONED_IN_NOTE, note=notification.note_id)
    else:
        rows = db.rows(_MENTIONED_IN_TEXT, kind=subject.kind, subject=subject.id)
    mentioned = {user_id for (user_id,) in rows} if notification.what in ("opened", "noted") else set()
    participants = {*participants_of(db, kind, subject), *notification.people}
    followers = {user_id for user_id, following in subscriptions.items() if following} | label_subscribers
    return InterestedUsers(participants, mentioned, followers, _watchers(db, project, groups), unsubscribed)


def _watchers(db: Connection, project: Project, groups: list[int]) -> set[int]:
    """Return the watchers; a global watch level covers only projects of which the user is a member."""
    kinds_by_user = watchers_of(db, project, groups)
    global_only = [user_id for user_id, kinds in kinds_by_user.items() if kinds == {GLOBAL}]
    levels = users_with_access(db, project, global_only) if global_only else {}
    return {
        user_id for user_id in kinds_by_user if user_id not in global_only or levels.get(user_id, 0) >= Access.GUEST
    }


def _wants(
    user_id: int, setting: EffectiveNotificationLevel, interested: InterestedUsers, notification: Notification
) -> bool:
    if user_id in interested.followers:
        return True
    if setting.level == LEVELS["disabled"]:
        return False
    if setting.level == LEVELS["mention"]:
        return user_id in interested.mentioned
    if setting.level == LEVELS["watch"] and user_id in interested.watchers:
        return True
    if (
        setting.level == LEVELS["custom"]
        and user_id in interested.watchers
        and setting.events.get(notification.flag, False)
    ):
        return True
    return user_id in interested.participants or user_id in interested.mentioned
