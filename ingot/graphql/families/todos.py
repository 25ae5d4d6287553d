"""Todos."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.todos.queries import find_todo as find_visible_todo
from ingot.collaboration.todos.views import TodoView, todo_view
from ingot.core.errors import Invalid
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.families.users import USER_TYPES
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.loaders import load_projects
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.projects.api import repository_store

resolvers = Resolvers()
resolvers.rename("Todo", action="action_name", targetEntity="target")
_TARGETS = {"ISSUE": "Issue", "MERGEREQUEST": "MergeRequest", "COMMIT": "Commit"}


@resolvers.single(*(f"{kind}.todos" for kind in USER_TYPES))
def list_todos(context: QueryContext, user: Any, arguments: Arguments) -> ConnectionPage | None:
    """Return a page of the caller's todos; those of other users are not visible."""
    if user.id != context.actor.user_id:
        return None
    states = arguments.get("state") or ["pending"]
    if len(states) > 1:
        raise Invalid("state takes one value")
    params = {
        "state": states[0],
        "action": _single(arguments, "action"),
        "author_id": _number(arguments, "authorId"),
        "project_id": _number(arguments, "projectId"),
        "group_id": _number(arguments, "groupId"),
        "type": _TARGETS.get(_single(arguments, "type") or ""),
    }
    return listed(context, "GET /todos", arguments, params)


def _single(arguments: Arguments, name: str) -> Any:
    values = arguments.get(name) or []
    if len(values) > 1:
        raise Invalid(f"{name} takes one value")
    return values[0] if values else None


def _number(arguments: Arguments, name: str) -> int | None:
    value = _single(arguments, name)
    return None if value is None else number_of(value)


@resolvers.single("Query.todo")
def find_todo(context: QueryContext, _: Any, arguments: Arguments) -> TodoView:
    """Return a todo of the caller."""
    return todo_by_id(context, number_of(arguments["id"], "Todo"))


def todo_by_id(context: QueryContext, todo_id: int) -> TodoView:
    """Return a todo of the caller; raise ``NotFound`` if there is none."""
    actor, base, store = context.actor, context.origin.base, repository_store(context.settings)
    return context.read(lambda db: todo_view(db, actor, find_visible_todo(db, actor, todo_id), base, store))


@resolvers.single("Issue.currentUserTodos", "MergeRequest.currentUserTodos")
def list_own_todos(context: QueryContext, subject: Any, arguments: Arguments) -> ConnectionPage:
    """Return the caller's todos on a subject."""
    if not context.actor.known:
        return connection_of([], arguments)
    kind = "MergeRequest" if hasattr(subject, "source_branch") else "Issue"
    params = {
        "state": arguments.get("state") or "pending",
        "type": kind,
        "project_id": subject.project_id,
        "per_page": 100,
    }
    todos = [todo for todo in context.call("GET /todos", params).items if todo.target.id == subject.id]
    return connection_of(todos, arguments)


@resolvers.value("Todo.id")
def todo_id(_: QueryContext, todo: TodoView) -> str:
    """Return the global id."""
    return to_global_id("Todo", todo.id)


@resolvers.value("Todo.targetType")
def target_type(_: QueryContext, todo: TodoView) -> str:
    """Return the kind of the subject."""
    return todo.target_type.upper()


@resolvers.batch("Todo.project")
def find_projects(context: QueryContext, todos: Sequence[TodoView], _: Arguments) -> list[Any]:
    """Return the projects of todos."""
    found = load_projects(context, {todo.project.id for todo in todos})
    return [found.get(todo.project.id) for todo in todos]


@resolvers.value("Todo.group")
def find_group(_: QueryContext, __: TodoView) -> None:
    """Return null: all todos belong to projects."""
    return
