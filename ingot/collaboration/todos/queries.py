"""Queries of todos."""

from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, false, or_, select

from ingot.collaboration.participants.commits import COMMIT
from ingot.collaboration.participants.queries import list_subject_kinds
from ingot.collaboration.participants.subject_kinds import Audience, SubjectKind, audience_of
from ingot.collaboration.todos.params import ListTodos
from ingot.collaboration.todos.policy import visible_commits
from ingot.collaboration.todos.tables import Todo, todos
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.closed_items import open_items
from ingot.projects.projects.tables import projects

_COUNT_BYTES = 200
_PENDING = select(todos.c.id).where(todos.c.user_id == bindparam("user"), todos.c.state == "pending").limit(1)
_PROJECTS_BELOW = (
    select(projects.c.id)
    .join(namespace_tree, namespace_tree.c.descendant_id == projects.c.namespace_id)
    .where(namespace_tree.c.ancestor_id == bindparam("group_id"))
)
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "todo": todos.c.id == bindparam("todo"),
    "pending": todos.c.state == "pending",
    "done": todos.c.state == "done",
    "action": todos.c.action == bindparam("action"),
    "author_id": todos.c.author_id == bindparam("author_id"),
    "project_id": todos.c.project_id == bindparam("project_id"),
    "group_id": todos.c.project_id.in_(_PROJECTS_BELOW.scalar_subquery()),
    "kind": todos.c.subject_kind == bindparam("kind"),
}


def _visible_targets(kinds: tuple[SubjectKind, ...], audience: Audience) -> ColumnElement[bool]:
    """Return the condition that the subject of a todo still exists and that its user can still see it."""
    conditions = [and_(todos.c.subject_kind == kind.kind, kind.visible(todos.c.subject_id, audience)) for kind in kinds]
    readable_code = exists().select_from(projects).where(projects.c.id == todos.c.project_id, visible_commits(audience))
    return or_(false(), *conditions, and_(todos.c.subject_kind == COMMIT, readable_code))


@lru_cache(maxsize=256)
def _matching(kinds: tuple[SubjectKind, ...], audience: Audience, filters: frozenset[str]) -> Select[Any]:
    conditions = [_CONDITIONS[name] for name in sorted(filters)]
    return select(todos).where(todos.c.user_id == bindparam("user"), *conditions, _visible_targets(kinds, audience))


@lru_cache(maxsize=256)
def _list_query(kinds: tuple[SubjectKind, ...], audience: Audience, filters: frozenset[str]) -> ListQuery:
    return list_query(_matching(kinds, audience, filters), todos.c.id, todos.c.id.desc())


def list_todos(db: Connection, actor: Actor, params: ListTodos, page: Page) -> Listing[Todo]:
    """Return a page of the caller's todos on subjects that the caller can see, newest first."""
    kinds = list_subject_kinds(db)
    values = _actor_parameters(db, actor)
    filters: set[str] = {params.state or "pending"}
    for name in ("action", "author_id", "project_id", "group_id"):
        if getattr(params, name) is not None:
            filters.add(name)
            values[name] = getattr(params, name)
    if params.type is not None:
        filters.add("kind")
        kind_by_type = {kind.type_name: kind.kind for kind in kinds} | {"Commit": COMMIT}
        values["kind"] = kind_by_type.get(params.type, "")
    return fetch_page(db, Todo, _list_query(kinds, audience_of(actor), frozenset(filters)), page, **values)


def count_todos(db: Connection, actor: Actor) -> int:
    """Count the caller's pending todos on visible subjects; every page shows the number, so that it is cached."""

    def read() -> int:
        if db.value(_PENDING, user=actor.user_id) is None:
            return 0
        query = _list_query(list_subject_kinds(db), audience_of(actor), frozenset({"pending"})).total
        count: int = db.value(query, **_actor_parameters(db, actor))
        return count

    # Memberships end with a day.
    key = ("todos", actor.user_id, audience_of(actor), db.today)
    return db.cached(key, read, lambda _: _COUNT_BYTES) or 0


def find_todo(db: Connection, actor: Actor, todo_id: int) -> Todo:
    """Return a todo of the caller; raise NotFound if there is none or its subject is no longer visible."""
    todo = db.first(
        Todo,
        _matching(list_subject_kinds(db), audience_of(actor), frozenset({"todo"})),
        todo=todo_id,
        **_actor_parameters(db, actor),
    )
    if todo is None or not open_items(db, actor, [todo]):
        raise NotFound("Todo")
    return todo


def _actor_parameters(db: Connection, actor: Actor) -> dict[str, Any]:
    return {"user": actor.user_id, "actor": actor.user_id, "today": db.today}
