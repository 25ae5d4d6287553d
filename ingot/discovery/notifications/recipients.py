"""Who is told of something: those who take part, follow or watch, want to hear of it, and may see it."""

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
from ingot.discovery.notifications.params import LEVELS, OWN_ACTIVITY
from ingot.discovery.notifications.pending import Notice
from ingot.discovery.notifications.queries import (
    GLOBAL,
    EffectiveNotificationLevel,
    ancestor_groups,
    notification_levels_of,
    watchers_of,
)
from ingot.discovery.notifications.tables import notification_settings
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
    """Somebody besides ``doer`` wants to hear of all, or of what they chose, in places of one kind."""
    level = notification_settings.c.level
    return exists().where(
        notification_settings.c.source_kind == kind,
        where,
        or_(level == LEVELS["watch"], level == LEVELS["custom"]),
        notification_settings.c.user_id != bindparam("doer"),
    )


# Who acts wants to hear of it too; as it stands among the flags.
_OWN = and_(
    notification_settings.c.user_id == bindparam("doer"),
    notification_settings.c.source_kind == GLOBAL,
    notification_settings.c.events.contains(f'"{OWN_ACTIVITY}":true', autoescape=True),
)
_NOTIFIED_OF_OWN = select(notification_settings.c.id).where(_OWN)
# Whether anybody besides who acts could want to hear of it; it spares most calls a job that would find nobody.
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
    """Who could want to hear of something, and why."""

    participants: Collection[int]
    named: Collection[int]
    followers: Collection[int]
    """Who said that they want to hear of it, whatever else they want."""
    watchers: Collection[int]
    refusing: Collection[int]
    """Who said that they do not."""


def has_possible_recipients(db: Connection, kind: SubjectKind, subject: Subject, notice: Notice) -> bool:
    """Whether anybody could want to hear of it, besides who acts or who also wants to hear of that."""
    if {subject.author_id, *notice.people} - {notice.actor_id}:
        return True
    # Of what is new, those who have it to do are among the people of the notice.
    if notice.what != "opened" and set(kind.assignees(db, subject)) - {notice.actor_id}:
        return True
    asked = {"kind": subject.kind, "subject": subject.id, "project": subject.project_id}
    return bool(db.value(_HAS_RECIPIENTS, **asked, doer=notice.actor_id, labels=list(notice.labels)))


def recipients_of(
    db: Connection, kind: SubjectKind, subject: Subject, project: Project, notice: Notice, *, internal: bool
) -> list[int]:
    """Who is told; who did it only where they want that."""
    groups = ancestor_groups(db, project)
    interest = _interested_users(db, kind, subject, project, groups, notice)
    candidates = {*interest.participants, *interest.named, *interest.followers, *interest.watchers}
    candidates -= {0, *interest.refusing}
    if db.value(_NOTIFIED_OF_OWN, doer=notice.actor_id) is None:
        candidates -= {notice.actor_id}
    levels = notification_levels_of(db, project, groups, candidates) if candidates else {}
    wanting = [user_id for user_id in sorted(candidates) if _wants(user_id, levels[user_id], interest, notice)]
    seeing = kind.readers(db, subject, wanting, internal) if wanting else ()
    return [user_id for user_id in wanting if user_id in seeing]


def mentioned_recipients(db: Connection, project: Project, people: Collection[int], actor_id: int) -> list[int]:
    """Who of those that somebody names hears of it; who names themselves only where they want that."""
    candidates = set(people)
    if actor_id in candidates and db.value(_NOTIFIED_OF_OWN, doer=actor_id) is None:
        candidates.remove(actor_id)
    levels = notification_levels_of(db, project, ancestor_groups(db, project), candidates) if candidates else {}
    return [user_id for user_id in sorted(candidates) if levels[user_id].level != LEVELS["disabled"]]


def _interested_users(
    db: Connection, kind: SubjectKind, subject: Subject, project: Project, groups: list[int], notice: Notice
) -> InterestedUsers:
    said = explicit_subscriptions_to(db, subject.kind, subject.id or 0)
    refusing = {user_id for user_id, following in said.items() if not following}
    marking = {user_id for (user_id,) in db.rows(_LABEL_SUBSCRIBERS, labels=list(notice.labels))}
    if notice.what == "mentioned":
        return InterestedUsers((), notice.people, (), (), refusing)
    if notice.what == "relabelled":
        return InterestedUsers((), (), marking, (), refusing)
    if notice.note_id is not None:
        rows = db.rows(_MENTIONED_IN_NOTE, note=notice.note_id)
    else:
        rows = db.rows(_MENTIONED_IN_TEXT, kind=subject.kind, subject=subject.id)
    named = {user_id for (user_id,) in rows} if notice.what in ("opened", "noted") else set()
    participants = {*participants_of(db, kind, subject), *notice.people}
    followers = {user_id for user_id, following in said.items() if following} | marking
    return InterestedUsers(participants, named, followers, _watchers(db, project, groups), refusing)


def _watchers(db: Connection, project: Project, groups: list[int]) -> set[int]:
    """Who watches everything means what they belong to, not all that is public."""
    found = watchers_of(db, project, groups)
    anywhere = [user_id for user_id, kinds in found.items() if kinds == {GLOBAL}]
    held = users_with_access(db, project, anywhere) if anywhere else {}
    return {user_id for user_id in found if user_id not in anywhere or held.get(user_id, 0) >= Access.GUEST}


def _wants(user_id: int, wish: EffectiveNotificationLevel, interest: InterestedUsers, notice: Notice) -> bool:
    if user_id in interest.followers:
        return True
    if wish.level == LEVELS["disabled"]:
        return False
    if wish.level == LEVELS["mention"]:
        return user_id in interest.named
    if wish.level == LEVELS["watch"] and user_id in interest.watchers:
        return True
    if wish.level == LEVELS["custom"] and user_id in interest.watchers and wish.events.get(notice.flag, False):
        return True
    return user_id in interest.participants or user_id in interest.named
