"""When there is something to tell, and what becomes of wishes when people and places go."""

import secrets
from typing import Any

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.groups.members.events import MemberAdded, MemberRemoved
from ingot.groups.namespaces.events import NamespaceDeleting
from ingot.involvement.commits import COMMIT
from ingot.involvement.events import PeopleMentioned, SubjectChanged
from ingot.involvement.queries import kind_or_none
from ingot.jobs.queue import enqueue
from ingot.notes.events import NoteAdded
from ingot.notifications.commits import tell_of_commit
from ingot.notifications.notices import NOTIFY, Notice, What
from ingot.notifications.pipelines import NOTIFY_OF_PIPELINE, PipelineNotice, listener_or_none
from ingot.notifications.recipients import may_concern_others
from ingot.notifications.service import copy_wish, forget_wish, forget_wishes
from ingot.projects.events import ProjectDeleted
from ingot.repository.pipelines.events import PipelineChanged
from ingot.subjects import Subject

subscriptions = Subscriptions()


def _tell(db: Connection, what: What, subject: Subject, actor_id: int, **more: Any) -> None:
    kind = kind_or_none(db, subject.kind)
    if kind is None or subject.id is None or subject.project_id is None:
        return
    notice = Notice(secrets.token_hex(8), what, subject.kind, subject.id, actor_id, **more)
    if may_concern_others(db, kind, subject, notice):
        enqueue(db, NOTIFY, notice)


@subscriptions.on(SubjectChanged)
def tell_of_subject(db: Connection, event: SubjectChanged) -> None:
    """Something was opened, closed, given to somebody, or carries a label that people follow."""
    people, subject = (*event.assigned, *event.unassigned), event.subject
    if event.action != "updated":
        _tell(db, event.action, subject, event.actor_id, people=people, labels=event.labelled)
        return
    if people:
        _tell(db, "reassigned", subject, event.actor_id, people=people)
    if event.labelled:
        _tell(db, "relabelled", subject, event.actor_id, labels=event.labelled)


@subscriptions.on(NoteAdded)
def tell_of_note(db: Connection, event: NoteAdded) -> None:
    """Somebody said something."""
    if event.subject is not None:
        _tell(db, "noted", event.subject, event.author_id, note_id=event.note_id)


@subscriptions.on(PeopleMentioned)
def tell_who_is_named(db: Connection, event: PeopleMentioned) -> None:
    """Who is named only since something was reworded; of what is new they are told with all others.

    Nobody else is told of what is said about commits, whether it is new or not.
    """
    if event.subject.kind == COMMIT:
        tell_of_commit(db, event)
    elif not event.new:
        _tell(db, "mentioned", event.subject, event.writer_id, note_id=event.note_id, people=event.people)


@subscriptions.on(PipelineChanged)
def tell_of_pipeline(db: Connection, event: PipelineChanged) -> None:
    """A pipeline failed, or succeeded and somebody wants to know."""
    user_id = listener_or_none(db, event)
    if user_id is not None:
        key = secrets.token_hex(8)
        notice = PipelineNotice(key, event.project_id, event.pipeline_id, event.status, user_id)
        enqueue(db, NOTIFY_OF_PIPELINE, notice)


@subscriptions.on(MemberAdded)
def show_wish(db: Connection, event: MemberAdded) -> None:
    """Members' rows show what they want to be told."""
    copy_wish(db, event.user_id, event.source_kind, event.source_id)


@subscriptions.on(MemberRemoved)
def forget_wish_of_member(db: Connection, event: MemberRemoved) -> None:
    """Who left begins anew when they come back."""
    forget_wish(db, event.user_id, event.source_kind, event.source_id)


@subscriptions.on(ProjectDeleted)
def forget_wishes_of_project(db: Connection, event: ProjectDeleted) -> None:
    """Nobody hears of what is gone."""
    forget_wishes(db, "project", event.project_id)


@subscriptions.on(NamespaceDeleting)
def forget_wishes_of_group(db: Connection, event: NamespaceDeleting) -> None:
    """Nobody hears of what is gone."""
    forget_wishes(db, "group", event.namespace_id)
