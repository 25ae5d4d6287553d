"""When somebody has something to look at, and when not any more."""

from sqlalchemy import bindparam, update

from ingot.commands.events import TodoCommanded
from ingot.db.connection import Connection
from ingot.emoji.events import AwardGiven
from ingot.events.bus import Subscriptions
from ingot.involvement.events import PeopleMentioned, SubjectChanged
from ingot.involvement.naming import people_named
from ingot.notes.events import NoteAdded, NoteEdited
from ingot.notes.queries import find_note
from ingot.projects.people.queries import who_sees
from ingot.projects.queries import project_or_none
from ingot.subjects import Subject
from ingot.todos.policy import may_read_commits
from ingot.todos.queries import COMMIT, called_by_note, commit_number
from ingot.todos.service import add_todo, add_todos, finish_todos
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
    if event.subject_id is not None:
        finish_todos(db, event.author_id, event.subject_kind, event.subject_id)
    elif event.commit_oid is not None and event.project_id is not None:
        _look_at_commit(db, event, event.author_id, event.body)


@subscriptions.on(NoteEdited)
def done_by_rewriting(db: Connection, event: NoteEdited) -> None:
    """The same for who says it in other words."""
    if event.subject_id is not None:
        finish_todos(db, event.actor_id, event.subject_kind, event.subject_id)
    elif event.commit_oid is not None and event.project_id is not None:
        _look_at_commit(db, event, event.actor_id, find_note(db, event.note_id).body)


def _look_at_commit(db: Connection, event: NoteAdded | NoteEdited, writer_id: int, body: str) -> None:
    """Who writes about a commit has looked at it; who is named there for the first time has to, if they may."""
    project = project_or_none(db, event.project_id or 0)
    if project is None or event.commit_oid is None:
        return
    number = commit_number(project.id, event.commit_oid)
    finish_todos(db, writer_id, COMMIT, number)
    named = people_named(db, writer_id, project.id, body)
    if not named:
        return
    called = called_by_note(db, event.note_id) if isinstance(event, NoteEdited) else set()
    seeing = who_sees(db, project, [user_id for user_id in named if user_id not in called])
    subject = Subject(COMMIT, project.id, number, commit_oid=event.commit_oid)
    for user_id, level in seeing.items():
        if may_read_commits(project, level):
            action = "directly_addressed" if named[user_id] else "mentioned"
            add_todo(db, user_id, writer_id, subject, action, event.note_id)


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
