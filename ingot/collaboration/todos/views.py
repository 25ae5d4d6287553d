"""Response structs of todos."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.participants.commits import COMMIT
from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.participants.subject_kinds import SubjectKind
from ingot.collaboration.todos.queries import count_todos
from ingot.collaboration.todos.tables import Todo
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp
from ingot.git.core.errors import MissingRepository
from ingot.git.history.commits import commit_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.tables import Project
from ingot.repositories.commits.views import commit_view

_NOTES = select(notes.c.id, notes.c.body, notes.c.commit_oid).where(in_list(notes.c.id, "notes"))


class _NoteText(NamedTuple):
    body: str
    commit_oid: str | None


class _TodoTarget(NamedTuple):
    type: str
    view: View
    path: str
    title: str


class TodoProjectView(View):
    """The project of a todo's subject."""

    id: int
    name: str
    name_with_namespace: str
    path: str
    path_with_namespace: str


class TodoView(View):
    """A todo with its subject as ``target``."""

    id: int
    project: TodoProjectView
    author: UserBrief
    action_name: str
    target_type: str
    target: Any
    target_url: str
    body: str
    state: str
    created_at: Timestamp


def todo_views(
    db: Connection, actor: Actor, todos: Sequence[Todo], base: str, store: RepositoryStore
) -> list[TodoView]:
    """Build the views of a page of todos.

    One statement per relation, plus a fixed number of statements for each kind of subject.
    """
    if not todos:
        return []
    authors = users_by_ids(db, [todo.author_id for todo in todos])
    projects = projects_by_ids(db, sorted({todo.project_id for todo in todos}))
    note_ids = [todo.note_id for todo in todos if todo.note_id is not None]
    notes = {row[0]: _NoteText(*row[1:]) for row in db.rows(_NOTES, notes=note_ids)} if note_ids else {}
    targets = _targets(db, actor, todos, base) | _commits(store, todos, projects, notes, base)
    views = []
    for todo in todos:
        target, project = targets.get(todo.id), projects.get(todo.project_id)
        # The target may have been deleted by another transaction since the todos were read.
        if target is None or project is None:
            continue
        fragment = f"#note_{todo.note_id}" if todo.note_id is not None else ""
        views.append(
            TodoView(
                id=todo.id,
                project=TodoProjectView(project.id, project.name, project.full_name, project.path, project.full_path),
                author=user_brief(authors[todo.author_id], base),
                action_name=todo.action,
                target_type=target.type,
                target=target.view,
                target_url=f"{base}/{project.full_path}/{target.path}{fragment}",
                body=notes[todo.note_id].body if todo.note_id in notes else target.title,
                state=todo.state,
                created_at=todo.created_at,
            )
        )
    return views


def _targets(db: Connection, actor: Actor, todos: Sequence[Todo], base: str) -> dict[int, _TodoTarget]:
    """Return the targets stored as rows (issues, merge requests), by todo id."""
    kinds: dict[str, SubjectKind] = {kind.kind: kind for kind in list_subject_kinds(db)}
    subject_ids: defaultdict[str, list[int]] = defaultdict(list)
    for todo in todos:
        if todo.subject_kind in kinds:
            subject_ids[todo.subject_kind].append(todo.subject_id)
    subject_views = {name: kinds[name].views(db, actor, ids, base) for name, ids in subject_ids.items()}
    subjects = {name: kinds[name].subjects(db, ids) for name, ids in subject_ids.items()}
    targets = {}
    for todo in todos:
        view = subject_views.get(todo.subject_kind, {}).get(todo.subject_id)
        subject = subjects.get(todo.subject_kind, {}).get(todo.subject_id)
        if view is not None and subject is not None:
            kind = kinds[todo.subject_kind]
            targets[todo.id] = _TodoTarget(kind.type_name, view, f"{kind.path}/{subject.iid}", subject.title)
    return targets


def _commits(
    store: RepositoryStore,
    todos: Sequence[Todo],
    projects: Mapping[int, Project],
    notes: Mapping[int, _NoteText],
    base: str,
) -> dict[int, _TodoTarget]:
    """Return the targets that are commits, by todo id; the note of a todo holds the commit id."""
    targets = {}
    for todo in todos:
        note, project = notes.get(todo.note_id or 0), projects.get(todo.project_id)
        if todo.subject_kind != COMMIT or project is None or note is None or note.commit_oid is None:
            continue
        try:
            commit = commit_or_none(store.open(project.repository_key), note.commit_oid)
        except MissingRepository:  # Deleted since the row was read.
            continue
        if commit is not None:
            view = commit_view(commit, f"{base}/{project.full_path}")
            targets[todo.id] = _TodoTarget("Commit", view, f"commit/{commit.oid}", view.title)
    return targets


def todo_view(db: Connection, actor: Actor, todo: Todo, base: str, store: RepositoryStore) -> TodoView:
    """Build the view of a todo."""
    return todo_views(db, actor, [todo], base, store)[0]


def pending_todos(db: Connection, actor: Actor) -> int:
    """Return how many todos every page shows the caller."""
    return count_todos(db, actor)
