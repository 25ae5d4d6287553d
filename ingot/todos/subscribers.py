"""When somebody has something to look at, and when not any more."""

from sqlalchemy import bindparam, update

from ingot.commands.events import TodoCommanded
from ingot.db.connection import Connection
from ingot.emoji.events import AwardGiven
from ingot.events.bus import Subscriptions
from ingot.involvement.commits import numbered_commit
from ingot.involvement.events import PeopleMentioned, SubjectChanged
from ingot.notes.events import NoteAdded, NoteEdited
from ingot.notes.queries import find_note
from ingot.todos.service import add_todos, finish_todos
from ingot.todos.tables import todos
from ingot.users.accounts.events import UserDeleting

subscriptions = Subscriptions()
_HAND_OVER = update(todos).where(todos.c.author_id == bindparam("user")).values(author_id=bindparam("placeholder"))


@subscriptions.on(SubjectChanged)
def look_at_what_is_given(db: Connection, event: SubjectChanged) -> None:
    """Who changes something has looked at it; who gets it to do has to."""
    subject = event.subject
    if subject.id is None:
        return
    if event.action != "opened":
        finish_todos(db, event.actor_id, subject.kind, subject.id)
    add_todos(db, event.assigned, event.actor_id, subject, "assigned")


@subscriptions.on(NoteAdded)
def done_by_writing(db: Connection, event: NoteAdded) -> None:
    """Who says something about a subject has looked at it."""
    _look_no_more(db, event, event.author_id)


@subscriptions.on(NoteEdited)
def done_by_rewriting(db: Connection, event: NoteEdited) -> None:
    """The same for who says it in other words."""
    _look_no_more(db, event, event.actor_id)


def _look_no_more(db: Connection, event: NoteAdded | NoteEdited, writer_id: int) -> None:
    number = event.subject_id
    if event.commit_oid is not None and event.project_id is not None:
        number = numbered_commit(event.project_id, event.commit_oid).id
    if number is not None:
        finish_todos(db, writer_id, event.subject_kind, number)


@subscriptions.on(AwardGiven)
def done_by_rewarding(db: Connection, event: AwardGiven) -> None:
    """An emoji says something too, also about a note."""
    kind, subject_id = event.subject_kind, event.subject_id
    if kind == "note":
        note = find_note(db, subject_id)
        if note.subject_id is None:
            return
        kind, subject_id = note.subject_kind, note.subject_id
    finish_todos(db, event.giver_id, kind, subject_id)


@subscriptions.on(TodoCommanded)
def look_as_told(db: Connection, event: TodoCommanded) -> None:
    """A line of what somebody wrote says so."""
    if event.what == "add":
        add_todos(db, [event.actor_id], event.actor_id, event.subject, "marked")
    elif event.subject.id is not None:
        finish_todos(db, event.actor_id, event.subject.kind, event.subject.id)


@subscriptions.on(PeopleMentioned)
def look_where_named(db: Connection, event: PeopleMentioned) -> None:
    """Who is named has to look there."""
    rest = [user_id for user_id in event.people if user_id not in event.addressed]
    for people, action in ((sorted(event.addressed), "directly_addressed"), (rest, "mentioned")):
        add_todos(db, people, event.writer_id, event.subject, action, event.note_id)


@subscriptions.on(UserDeleting)
def hand_over_authorship(db: Connection, event: UserDeleting) -> None:
    """What somebody left for others to look at stays, in the name of the placeholder."""
    if not event.hard:
        db.run(_HAND_OVER, user=event.user_id, placeholder=event.placeholder_id)
