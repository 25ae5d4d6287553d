"""Subscribers that enqueue notifications and delete notification settings."""

import secrets
from typing import Any

from ingot.collaboration.notes.events import NoteAdded
from ingot.collaboration.participants.commits import COMMIT
from ingot.collaboration.participants.events import SubjectChanged, UsersMentioned
from ingot.collaboration.participants.queries import subject_kind_or_none
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import enqueue
from ingot.notifications.commits import notify_of_commit_note
from ingot.notifications.payload import NOTIFY, Notification, NotificationType
from ingot.notifications.pipelines import NOTIFY_OF_PIPELINE, PipelineNotification, recipient_or_none
from ingot.notifications.recipients import has_possible_recipients
from ingot.notifications.service import (
    copy_level_to_membership,
    delete_notification_setting,
    delete_notification_settings,
)
from ingot.pipelines.events import PipelineChanged
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.namespaces.events import NamespaceDeleting
from ingot.projects.projects.events import ProjectDeleted

subscriptions = Subscriptions()


def _enqueue_notification(
    db: Connection, notification_type: NotificationType, subject: Subject, actor_id: int, **more: Any
) -> None:
    kind = subject_kind_or_none(db, subject.kind)
    if kind is None or subject.id is None or subject.project_id is None:
        return
    notification = Notification(secrets.token_hex(8), notification_type, subject.kind, subject.id, actor_id, **more)
    if has_possible_recipients(db, kind, subject, notification):
        enqueue(db, NOTIFY, notification)


@subscriptions.on(SubjectChanged)
def notify_of_subject(db: Connection, event: SubjectChanged) -> None:
    """Notify of an opened, closed, reopened, merged, reassigned or relabeled subject, and of requests for reviews."""
    people, subject = (*event.assigned, *event.unassigned), event.subject
    if event.action != "updated":
        people += event.review_requested
        _enqueue_notification(db, event.action, subject, event.actor_id, people=people, labels=event.labelled)
        return
    if people:
        _enqueue_notification(db, "reassigned", subject, event.actor_id, people=people)
    if event.review_requested:
        _enqueue_notification(db, "review_requested", subject, event.actor_id, people=event.review_requested)
    if event.changes_requested:
        _enqueue_notification(db, "changes_requested", subject, event.actor_id, people=event.changes_requested)
    if event.labelled:
        _enqueue_notification(db, "relabelled", subject, event.actor_id, labels=event.labelled)


@subscriptions.on(NoteAdded)
def notify_of_note(db: Connection, event: NoteAdded) -> None:
    """Notify of a new note."""
    if event.subject is not None:
        _enqueue_notification(db, "noted", event.subject, event.author_id, note_id=event.note_id)


@subscriptions.on(UsersMentioned)
def notify_mentioned_users(db: Connection, event: UsersMentioned) -> None:
    """Notify users whose mention was added by an edit; mentions in new texts are covered by other notifications.

    For commits, mentioned users are the only ones to be notified, whether the note is new or not.
    """
    if event.subject.kind == COMMIT:
        notify_of_commit_note(db, event)
    elif not event.new:
        _enqueue_notification(
            db, "mentioned", event.subject, event.writer_id, note_id=event.note_id, people=event.user_ids
        )


@subscriptions.on(PipelineChanged)
def notify_of_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Notify of a finished pipeline."""
    user_id = recipient_or_none(db, event)
    if user_id is not None:
        key = secrets.token_hex(8)
        notification = PipelineNotification(key, event.project_id, event.pipeline_id, event.status, user_id)
        enqueue(db, NOTIFY_OF_PIPELINE, notification)


@subscriptions.on(MemberAdded)
def copy_level_to_new_member(db: Connection, event: MemberAdded) -> None:
    """Copy the notification level to the row of a new member."""
    copy_level_to_membership(db, event.user_id, event.source_kind, event.source_id)


@subscriptions.on(MemberRemoved)
def delete_setting_of_member(db: Connection, event: MemberRemoved) -> None:
    """Delete the setting of a removed member."""
    delete_notification_setting(db, event.user_id, event.source_kind, event.source_id)


@subscriptions.on(ProjectDeleted)
def delete_settings_of_project(db: Connection, event: ProjectDeleted) -> None:
    """Delete the settings of a deleted project."""
    delete_notification_settings(db, "project", event.project_id)


@subscriptions.on(NamespaceDeleting)
def delete_settings_of_group(db: Connection, event: NamespaceDeleting) -> None:
    """Delete the settings of a deleted group."""
    delete_notification_settings(db, "group", event.namespace_id)
