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
from ingot.discovery.notifications.commits import notify_of_commit_note
from ingot.discovery.notifications.notices import NOTIFY, Notice, NoticeType
from ingot.discovery.notifications.pipelines import NOTIFY_OF_PIPELINE, PipelineNotice, recipient_or_none
from ingot.discovery.notifications.recipients import has_possible_recipients
from ingot.discovery.notifications.service import (
    copy_level_to_membership,
    delete_notification_setting,
    delete_notification_settings,
)
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.namespaces.events import NamespaceDeleting
from ingot.projects.projects.events import ProjectDeleted
from ingot.repositories.pipelines.events import PipelineChanged

subscriptions = Subscriptions()


def _enqueue_notice(db: Connection, notice_type: NoticeType, subject: Subject, actor_id: int, **more: Any) -> None:
    kind = subject_kind_or_none(db, subject.kind)
    if kind is None or subject.id is None or subject.project_id is None:
        return
    notice = Notice(secrets.token_hex(8), notice_type, subject.kind, subject.id, actor_id, **more)
    if has_possible_recipients(db, kind, subject, notice):
        enqueue(db, NOTIFY, notice)


@subscriptions.on(SubjectChanged)
def notify_of_subject(db: Connection, event: SubjectChanged) -> None:
    """Notify of an opened, closed, reopened, merged, reassigned or relabeled subject, and of requests for reviews."""
    people, subject = (*event.assigned, *event.unassigned), event.subject
    if event.action != "updated":
        people += event.review_requested
        _enqueue_notice(db, event.action, subject, event.actor_id, people=people, labels=event.labelled)
        return
    if people:
        _enqueue_notice(db, "reassigned", subject, event.actor_id, people=people)
    if event.review_requested:
        _enqueue_notice(db, "review_requested", subject, event.actor_id, people=event.review_requested)
    if event.labelled:
        _enqueue_notice(db, "relabelled", subject, event.actor_id, labels=event.labelled)


@subscriptions.on(NoteAdded)
def notify_of_note(db: Connection, event: NoteAdded) -> None:
    """Notify of a new note."""
    if event.subject is not None:
        _enqueue_notice(db, "noted", event.subject, event.author_id, note_id=event.note_id)


@subscriptions.on(UsersMentioned)
def notify_mentioned_users(db: Connection, event: UsersMentioned) -> None:
    """Notify users whose mention was added by an edit; mentions in new texts are covered by other notices.

    For commits, mentioned users are the only ones to be notified, whether the note is new or not.
    """
    if event.subject.kind == COMMIT:
        notify_of_commit_note(db, event)
    elif not event.new:
        _enqueue_notice(db, "mentioned", event.subject, event.writer_id, note_id=event.note_id, people=event.user_ids)


@subscriptions.on(PipelineChanged)
def notify_of_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Notify of a finished pipeline."""
    user_id = recipient_or_none(db, event)
    if user_id is not None:
        key = secrets.token_hex(8)
        notice = PipelineNotice(key, event.project_id, event.pipeline_id, event.status, user_id)
        enqueue(db, NOTIFY_OF_PIPELINE, notice)


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
