"""What is recorded when people do something."""

import msgspec

from ingot.activity.service import drop_events, forget_target, record_event
from ingot.activity.tables import MILESTONE
from ingot.activity.views import Pushed, PushedCommit
from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.git.counting import Brought, Message
from ingot.git.updating import RefUpdate
from ingot.groups.members.events import MemberAdded, MemberRemoved
from ingot.involvement.events import SubjectChanged
from ingot.milestones.events import MilestoneChanged
from ingot.notes.events import NoteAdded, NoteRemoved
from ingot.projects.events import ProjectCreated
from ingot.repository.changes.events import RefsChanged
from ingot.subjects import Subject

subscriptions = Subscriptions()
MOST_COMMITS = 20
"""So many of the newest commits of a push are told."""
LONGEST_MESSAGE = 1000
MOST_REFS = 100
"""Of so many references in one push it is told; who pushes more brings a repository."""
LONGEST_TITLE = 70
_ACTIONS = {"opened": "created", "closed": "closed", "reopened": "reopened", "merged": "merged"}


@subscriptions.on(ProjectCreated)
def tell_of_project(db: Connection, event: ProjectCreated) -> None:
    """Somebody made a project."""
    record_event(db, event.project_id, event.actor_id, "created")


@subscriptions.on(MemberAdded)
def tell_of_joining(db: Connection, event: MemberAdded) -> None:
    """Somebody joined a project; whose it is was there before anybody could join."""
    if event.source_kind == "project" and not event.owns:
        record_event(db, event.source_id, event.user_id, "joined")


@subscriptions.on(MemberRemoved)
def tell_of_leaving(db: Connection, event: MemberRemoved) -> None:
    """Somebody left a project, or had to."""
    if event.source_kind == "project":
        record_event(db, event.source_id, event.user_id, "expired" if event.expired else "left")


@subscriptions.on(SubjectChanged)
def tell_of_subject(db: Connection, event: SubjectChanged) -> None:
    """Something was opened, closed, reopened or merged."""
    action = _ACTIONS.get(event.action)
    if action is not None and event.subject.project_id is not None:
        record_event(db, event.subject.project_id, event.actor_id, action, subject=event.subject)


@subscriptions.on(NoteAdded)
def tell_of_note(db: Connection, event: NoteAdded) -> None:
    """Somebody said something that is not only for those who work on it."""
    if event.project_id is not None and not event.internal:
        subject = Subject(event.subject_kind, event.project_id, event.subject_id)  # type: ignore[arg-type] # Notes are about no other kinds.
        record_event(db, event.project_id, event.author_id, "commented", subject=subject, note_id=event.note_id)


@subscriptions.on(NoteRemoved)
def tell_of_note_no_more(db: Connection, event: NoteRemoved) -> None:
    """What was said and taken back was not said."""
    drop_events(db, "note", event.note_id)


@subscriptions.on(MilestoneChanged)
def tell_of_milestone(db: Connection, event: MilestoneChanged) -> None:
    """Somebody changed what a project plans; events are of projects, so of a group's milestones nothing is told."""
    if event.project_id is not None:
        record_event(db, event.project_id, event.actor_id, event.action, milestone_id=event.milestone_id)
    if event.action == "destroyed":
        forget_target(db, MILESTONE, event.milestone_id)


@subscriptions.on(RefsChanged)
def tell_of_push(db: Connection, event: RefsChanged) -> None:
    """Somebody changed branches and tags; each one is told by itself."""
    if event.actor_id is None:
        return
    for update in event.updates[:MOST_REFS]:
        if update.branch is not None or update.tag is not None:
            push = _push(update, event.brought.get(update.ref, Brought()))
            record_event(db, event.project_id, event.actor_id, "pushed", push=msgspec.json.encode(push).decode())


def _push(update: RefUpdate, brought: Brought) -> Pushed:
    title = brought.title
    if title is not None and len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1] + "…"
    return Pushed(
        commit_count=brought.commits,
        action="created" if update.creates else "removed" if update.deletes else "pushed",
        ref_type="branch" if update.branch is not None else "tag",
        commit_from=None if update.creates else update.old,
        commit_to=None if update.deletes else update.new,
        ref=update.branch or update.tag or update.ref,
        commit_title=title,
        commits=tuple(_commit(message) for message in brought.messages[-MOST_COMMITS:]),
    )


def _commit(message: Message) -> PushedCommit:
    name, email = (message.author.name, message.author.email) if message.author else (None, None)
    return PushedCommit(message.oid, message.text[:LONGEST_MESSAGE], message.committed_at, name, email)
