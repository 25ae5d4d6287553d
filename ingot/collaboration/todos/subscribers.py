"""Subscribers that add todos and mark them as done."""

from sqlalchemy import bindparam, update

from ingot.accounts.users.events import UserDeleting
from ingot.collaboration.emoji.events import AwardGiven
from ingot.collaboration.notes.events import NoteAdded, NoteEdited
from ingot.collaboration.notes.queries import find_note
from ingot.collaboration.participants.commits import commit_subject_with_id
from ingot.collaboration.participants.events import SubjectChanged, UsersMentioned
from ingot.collaboration.quick_actions.events import TodoCommandGiven
from ingot.collaboration.todos.service import add_todos, mark_todos_done
from ingot.collaboration.todos.tables import todos
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions

subscriptions = Subscriptions()
_REASSIGN = update(todos).where(todos.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))


@subscriptions.on(SubjectChanged)
def update_todos_on_change(db: Connection, event: SubjectChanged) -> None:
    """Mark the actor's todos on a changed subject as done and add todos for new assignees and reviewers."""
    subject = event.subject
    if subject.id is None:
        return
    if event.action != "opened":
        mark_todos_done(db, event.actor_id, subject.kind, subject.id)
    add_todos(db, event.assigned, event.actor_id, subject, "assigned")
    add_todos(db, event.review_requested, event.actor_id, subject, "review_requested")
    add_todos(db, event.changes_requested, event.actor_id, subject, "review_submitted")


@subscriptions.on(NoteAdded)
def mark_done_on_note(db: Connection, event: NoteAdded) -> None:
    """Mark the author's todos on the subject of a new note as done."""
    _mark_done_for_writer(db, event, event.author_id)


@subscriptions.on(NoteEdited)
def mark_done_on_note_edit(db: Connection, event: NoteEdited) -> None:
    """Mark the editor's todos on the subject of an edited note as done."""
    _mark_done_for_writer(db, event, event.actor_id)


def _mark_done_for_writer(db: Connection, event: NoteAdded | NoteEdited, writer_id: int) -> None:
    subject_id = event.subject_id
    if event.commit_oid is not None and event.project_id is not None:
        subject_id = commit_subject_with_id(event.project_id, event.commit_oid).id
    if subject_id is not None:
        mark_todos_done(db, writer_id, event.subject_kind, subject_id)


@subscriptions.on(AwardGiven)
def mark_done_on_award(db: Connection, event: AwardGiven) -> None:
    """Mark the giver's todos on the subject as done; for an award on a note, on the note's subject."""
    kind, subject_id = event.subject_kind, event.subject_id
    if kind == "note":
        note = find_note(db, subject_id)
        if note.subject_id is None:
            return
        kind, subject_id = note.subject_kind, note.subject_id
    mark_todos_done(db, event.giver_id, kind, subject_id)


@subscriptions.on(TodoCommandGiven)
def add_todo_by_quick_action(db: Connection, event: TodoCommandGiven) -> None:
    """Add a todo or mark it as done, as requested by a quick action."""
    if event.action == "add":
        add_todos(db, [event.actor_id], event.actor_id, event.subject, "marked")
    elif event.subject.id is not None:
        mark_todos_done(db, event.actor_id, event.subject.kind, event.subject.id)


@subscriptions.on(UsersMentioned)
def add_mention_todos(db: Connection, event: UsersMentioned) -> None:
    """Add todos for mentioned users; users at the beginning of the text are directly addressed."""
    mentioned = [user_id for user_id in event.user_ids if user_id not in event.addressed]
    for user_ids, action in ((sorted(event.addressed), "directly_addressed"), (mentioned, "mentioned")):
        add_todos(db, user_ids, event.writer_id, event.subject, action, event.note_id)


@subscriptions.on(UserDeleting)
def reassign_todos(db: Connection, event: UserDeleting) -> None:
    """Transfer todos created by a deleted user to the placeholder user, except on a hard delete."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
