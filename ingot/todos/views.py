"""How todos are shown."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from ingot.access.actor import Actor
from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.times import Timestamp
from ingot.involvement.kinds import SubjectKind
from ingot.involvement.queries import all_kinds
from ingot.notes.tables import notes
from ingot.projects.queries import projects_by_ids
from ingot.todos.tables import Todo
from ingot.users.accounts.queries import users_by_ids
from ingot.users.accounts.views import UserBrief, user_brief

_BODIES = select(notes.c.id, notes.c.body).where(any_of(notes.c.id, "notes"))


class TodoProjectView(View):
    """The project in which there is something to look at."""

    id: int
    name: str
    name_with_namespace: str
    path: str
    path_with_namespace: str


class TodoView(View):
    """Something that a user has to look at."""

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


def todo_views(db: Connection, actor: Actor, found: Sequence[Todo], base: str) -> list[TodoView]:
    """A page of todos; one statement for each relation, and as many as it takes for the subjects of each kind."""
    if not found:
        return []
    kinds: dict[str, SubjectKind] = {kind.kind: kind for kind in all_kinds(db)}
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for todo in found:
        numbers[todo.subject_kind].append(todo.subject_id)
    targets = {name: kinds[name].views(db, actor, ids, base) for name, ids in numbers.items()}
    subjects = {name: kinds[name].subjects(db, ids) for name, ids in numbers.items()}
    authors = users_by_ids(db, [todo.author_id for todo in found])
    projects = projects_by_ids(db, sorted({todo.project_id for todo in found}))
    by_note = [todo.note_id for todo in found if todo.note_id is not None]
    bodies: dict[int, str] = dict(db.rows(_BODIES, notes=by_note)) if by_note else {}
    views = []
    for todo in found:
        subject = subjects[todo.subject_kind].get(todo.subject_id)
        project = projects.get(todo.project_id)
        # One may have gone in between, where a server's statements do not all see the same moment.
        if subject is None or project is None or todo.subject_id not in targets[todo.subject_kind]:
            continue
        kind = kinds[todo.subject_kind]
        mark = f"#note_{todo.note_id}" if todo.note_id is not None else ""
        views.append(
            TodoView(
                id=todo.id,
                project=TodoProjectView(project.id, project.name, project.full_name, project.path, project.full_path),
                author=user_brief(authors[todo.author_id], base),
                action_name=todo.action,
                target_type=kind.shown,
                target=targets[todo.subject_kind][todo.subject_id],
                target_url=f"{base}/{project.full_path}/{kind.path}/{subject.iid}{mark}",
                body=bodies.get(todo.note_id or 0, subject.title),
                state=todo.state,
                created_at=todo.created_at,
            )
        )
    return views


def todo_view(db: Connection, actor: Actor, todo: Todo, base: str) -> TodoView:
    """One todo."""
    return todo_views(db, actor, [todo], base)[0]
