"""Subscribers that record activity events."""

import msgspec

from ingot.activity.service import clear_event_target, delete_events, record_event
from ingot.activity.tables import MILESTONE
from ingot.activity.views import PushedCommit, StoredPush
from ingot.collaboration.milestones.events import MilestoneChanged
from ingot.collaboration.notes.events import NoteAdded, NoteRemoved
from ingot.collaboration.participants.events import SubjectChanged, SubjectDropped
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.git.writing.change_summary import CommitMessage, PushSummary
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.members.events import MemberAdded, MemberRemoved
from ingot.projects.projects.events import ProjectCreated
from ingot.repositories.ref_changes.events import RefsChanged

subscriptions = Subscriptions()
MAX_COMMITS = 20
"""Number of newest commits stored per push."""
MAX_MESSAGE_LENGTH = 1000
MAX_REFS = 100
"""Number of refs recorded per push; larger pushes usually import a repository."""
MAX_TITLE_LENGTH = 70
_ACTIONS = {"opened": "created", "closed": "closed", "reopened": "reopened", "merged": "merged"}


@subscriptions.on(ProjectCreated)
def record_project_created(db: Connection, event: ProjectCreated) -> None:
    """Record the creation of a project."""
    record_event(db, event.project_id, event.actor_id, "created")


@subscriptions.on(MemberAdded)
def record_member_added(db: Connection, event: MemberAdded) -> None:
    """Record that a user joined a project; the owner of a new project is skipped."""
    if event.source_kind == "project" and not event.owns:
        record_event(db, event.source_id, event.user_id, "joined")


@subscriptions.on(MemberRemoved)
def record_member_removed(db: Connection, event: MemberRemoved) -> None:
    """Record that a user left or was removed from a project."""
    if event.source_kind == "project":
        record_event(db, event.source_id, event.user_id, "expired" if event.expired else "left")


@subscriptions.on(SubjectChanged)
def record_subject_changed(db: Connection, event: SubjectChanged) -> None:
    """Record that a subject was opened, closed, reopened or merged."""
    action = _ACTIONS.get(event.action)
    if action is not None and event.subject.project_id is not None:
        record_event(db, event.subject.project_id, event.actor_id, action, subject=event.subject)


@subscriptions.on(NoteAdded)
def record_note_added(db: Connection, event: NoteAdded) -> None:
    """Record a new note, unless it is internal."""
    if event.project_id is not None and not event.internal:
        subject = Subject(event.subject_kind, event.project_id, event.subject_id)  # type: ignore[arg-type] # Notes are about no other kinds.
        record_event(db, event.project_id, event.author_id, "commented", subject=subject, note_id=event.note_id)


@subscriptions.on(NoteRemoved)
def delete_note_events(db: Connection, event: NoteRemoved) -> None:
    """Delete the events of a deleted note."""
    delete_events(db, "note", [event.note_id])


@subscriptions.on(SubjectDropped)
def delete_subject_events(db: Connection, event: SubjectDropped) -> None:
    """Delete the events of a deleted issue or merge request and of its notes."""
    if event.subject.id is not None:
        delete_events(db, event.subject.kind, [event.subject.id])
    delete_events(db, "note", event.note_ids)


@subscriptions.on(MilestoneChanged)
def record_milestone_changed(db: Connection, event: MilestoneChanged) -> None:
    """Record a change of a project milestone; events belong to projects, so group milestones are skipped."""
    if event.project_id is not None:
        record_event(db, event.project_id, event.actor_id, event.action, milestone_id=event.milestone_id)
    if event.action == "destroyed":
        clear_event_target(db, MILESTONE, event.milestone_id)


@subscriptions.on(RefsChanged)
def record_push(db: Connection, event: RefsChanged) -> None:
    """Record a push, one event per branch or tag."""
    if event.actor_id is None:
        return
    for update in event.updates[:MAX_REFS]:
        if update.branch is not None or update.tag is not None:
            push = _stored_push(update, event.summaries.get(update.ref, PushSummary()))
            if event.deploy_key_id is not None:
                push.deploy_key_id = event.deploy_key_id
            record_event(db, event.project_id, event.actor_id, "pushed", push=msgspec.json.encode(push).decode())


def _stored_push(update: RefUpdate, summary: PushSummary) -> StoredPush:
    title = summary.title
    if title is not None and len(title) > MAX_TITLE_LENGTH:
        title = title[: MAX_TITLE_LENGTH - 1] + "…"
    return StoredPush(
        commit_count=summary.commits,
        action="created" if update.creates else "removed" if update.deletes else "pushed",
        ref_type="branch" if update.branch is not None else "tag",
        commit_from=None if update.creates else update.old,
        commit_to=None if update.deletes else update.new,
        ref=update.branch or update.tag or update.ref,
        commit_title=title,
        commits=tuple(_stored_commit(message) for message in summary.messages[-MAX_COMMITS:]),
    )


def _stored_commit(message: CommitMessage) -> PushedCommit:
    name, email = (message.author.name, message.author.email) if message.author else (None, None)
    return PushedCommit(message.oid, message.text[:MAX_MESSAGE_LENGTH], message.committed_at, name, email)
