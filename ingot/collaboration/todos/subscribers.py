"""When somebody has something to look at, and when not any more."""

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
    """Who changes something has looked at it; who gets it to do has to."""
    subject = event.subject
    if subject.id is None:
        return
    if event.action != "opened":
        mark_todos_done(db, event.actor_id, subject.kind, subject.id)
    add_todos(db, event.assigned, event.actor_id, subject, "assigned")


@subscriptions.on(NoteAdded)
def mark_done_on_note(db: Connection, event: NoteAdded) -> None:
    """Who says something about a subject has looked at it."""
    _mark_done_for_writer(db, event, event.author_id)


@subscriptions.on(NoteEdited)
def mark_done_on_note_edit(db: Connection, event: NoteEdited) -> None:
    """The same for who says it in other words."""
    _mark_done_for_writer(db, event, event.actor_id)


def _mark_done_for_writer(db: Connection, event: NoteAdded | NoteEdited, writer_id: int) -> None:
    number = event.subject_id
    if event.commit_oid is not None and event.project_id is not None:
        number = commit_subject_with_id(event.project_id, event.commit_oid).id
    if number is not None:
        mark_todos_done(db, writer_id, event.subject_kind, number)


@subscriptions.on(AwardGiven)
def mark_done_on_award(db: Connection, event: AwardGiven) -> None:
    """An emoji says something too, also about a note."""
    kind, subject_id = event.subject_kind, event.subject_id
    if kind == "note":
        note = find_note(db, subject_id)
        if note.subject_id is None:
            return
        kind, subject_id = note.subject_kind, note.subject_id
    mark_todos_done(db, event.giver_id, kind, subject_id)


@subscriptions.on(TodoCommandGiven)
def add_todo_by_quick_action(db: Connection, event: TodoCommandGiven) -> None:
    """A line of what somebody wrote says so."""
    if event.what == "add":
        add_todos(db, [event.actor_id], event.actor_id, event.subject, "marked")
    elif event.subject.id is not None:
        mark_todos_done(db, event.actor_id, event.subject.kind, event.subject.id)


@subscriptions.on(UsersMentioned)
def add_mention_todos(db: Connection, event: UsersMentioned) -> None:
    """Who is named has to look there."""
    rest = [user_id for user_id in event.people if user_id not in event.addressed]
    for people, action in ((sorted(event.addressed), "directly_addressed"), (rest, "mentioned")):
        add_todos(db, people, event.writer_id, event.subject, action, event.note_id)


@subscriptions.on(UserDeleting)
def reassign_todos(db: Connection, event: UserDeleting) -> None:
    """What somebody left for others to look at stays, in the name of the placeholder."""
    if not event.hard:
        db.run(_REASSIGN, user=event.user_id, placeholder=event.placeholder_id)
