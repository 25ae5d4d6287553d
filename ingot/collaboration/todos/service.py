"""State changes of todos."""

from collections.abc import Iterable

from sqlalchemy import bindparam, delete, select, text, update

from ingot.collaboration.subjects import Subject
from ingot.collaboration.todos.tables import Todo, todos
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid

# A user has at most one pending todo per subject; no row is returned when one already exists.
_ADD = text(
    "INSERT INTO todos (user_id, author_id, project_id, subject_kind, subject_id, note_id, action, state,"
    " created_at, updated_at)"
    " VALUES (:user, :author, :project, :kind, :subject, :note, :action, 'pending', :now, :now)"
    " ON CONFLICT (user_id, subject_kind, subject_id) WHERE state = 'pending' DO NOTHING RETURNING id"
)
_MARK_DONE = update(todos).where(todos.c.state == "pending", todos.c.user_id == bindparam("user"))
_MARK_DONE = _MARK_DONE.values(state="done", updated_at=bindparam("now"))
_ON_SUBJECT = (todos.c.subject_kind == bindparam("kind")) & (todos.c.subject_id == bindparam("subject"))
_MARK_DONE_ON_SUBJECT = _MARK_DONE.where(_ON_SUBJECT)
_MARK_DONE_BY_ACTION = (
    update(todos)
    .where(todos.c.state == "pending", _ON_SUBJECT, todos.c.action == bindparam("reason"))
    .values(state="done", updated_at=bindparam("now"))
)
_MARK_ONE_DONE = _MARK_DONE.where(todos.c.id == bindparam("todo"))
_RESTORE = (
    update(todos)
    .where(todos.c.id == bindparam("todo"), todos.c.state == "done")
    .values(state="pending", updated_at=bindparam("now"))
)
_OTHER_PENDING = select(todos.c.id).where(
    _ON_SUBJECT, todos.c.user_id == bindparam("user"), todos.c.state == "pending", todos.c.id != bindparam("todo")
)
_DELETE_TODOS = delete(todos).where(_ON_SUBJECT)


def add_todo(
    db: Connection, user_id: int, author_id: int, subject: Subject, action: str, note_id: int | None = None
) -> int | None:
    """Add a todo for a user and return its id; return None if one is already pending."""
    columns = {"project": subject.project_id, "kind": subject.kind, "subject": subject.id, "note": note_id}
    todo_id: int | None = db.value(_ADD, user=user_id, author=author_id, **columns, action=action, now=db.now)
    return todo_id


def add_todos(
    db: Connection, user_ids: Iterable[int], author_id: int, subject: Subject, action: str, note_id: int | None = None
) -> None:
    """Add a todo for each of several users."""
    for user_id in user_ids:
        add_todo(db, user_id, author_id, subject, action, note_id)


def mark_todos_done(db: Connection, user_id: int, kind: str, subject_id: int) -> None:
    """Mark a user's todos on a subject as done."""
    db.run(_MARK_DONE_ON_SUBJECT, user=user_id, kind=kind, subject=subject_id, now=db.now)


def mark_todos_done_by_action(db: Connection, subject: Subject, action: str) -> None:
    """Mark all users' todos on a subject that were created by this action as done."""
    db.run(_MARK_DONE_BY_ACTION, kind=subject.kind, subject=subject.id, reason=action, now=db.now)


def mark_todo_done(db: Connection, user_id: int, todo_id: int) -> None:
    """Mark a todo as done; a todo that is already done is not changed."""
    db.run(_MARK_ONE_DONE, user=user_id, todo=todo_id, now=db.now)


def restore_todo(db: Connection, todo: Todo) -> None:
    """Make a todo pending again; raise ``Invalid`` if another one of its subject is pending."""
    values = {"user": todo.user_id, "kind": todo.subject_kind, "subject": todo.subject_id, "todo": todo.id}
    if db.value(_OTHER_PENDING, **values) is not None:
        raise Invalid("A pending to-do item for this already exists")
    db.run(_RESTORE, todo=todo.id, now=db.now)


def mark_all_todos_done(db: Connection, user_id: int) -> None:
    """Mark all pending todos of a user as done."""
    db.run(_MARK_DONE, user=user_id, now=db.now)


def delete_todos(db: Connection, subject: Subject) -> None:
    """Delete all todos on a subject."""
    db.run(_DELETE_TODOS, kind=subject.kind, subject=subject.id)
