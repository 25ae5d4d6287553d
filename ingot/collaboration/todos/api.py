"""Endpoints of todos."""

from collections.abc import Callable

from ingot.collaboration.subjects import SubjectAccess
from ingot.collaboration.todos import policy, queries, service
from ingot.collaboration.todos.params import ListTodos
from ingot.collaboration.todos.views import TodoView, todo_view, todo_views
from ingot.core.access.rules import signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Finder, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Unchanged
from ingot.projects.projects.api import repository_store

routes = Routes("todos")


@routes.get("/todos", may=signed_in, returns=list[TodoView], cached=True)
def list_todos(call: Call, params: ListTodos, page: Page) -> Listing[TodoView]:
    """List the caller's todos, newest first."""
    listing = queries.list_todos(call.db, call.actor, params, page)
    return listing.of(todo_views(call.db, call.actor, listing.items, call.origin.base, repository_store(call.settings)))


@routes.post("/todos/mark_as_done", may=signed_in, returns=None, status=204)
def finish_todos(call: Call) -> None:
    """Mark all of the caller's todos as done."""
    service.mark_all_todos_done(call.db, call.actor.user_id)


@routes.post("/todos/:id/mark_as_done", may=signed_in, returns=TodoView)
def finish_todo(call: Call) -> TodoView:
    """Mark a todo as done."""
    todo = queries.find_todo(call.db, call.actor, path_number(call.path, "id"))
    service.mark_todo_done(call.db, call.actor.user_id, todo.id)
    return _todo_response(call, todo.id)


def declare_todo_routes(routes: Routes, finder: Finder, *, todo: str) -> Callable[..., TodoView]:
    """Declare the endpoint that adds a todo for a subject that ``finder`` finds; return its handler."""

    @routes.post(todo, on=finder, may=policy.may_add_todo, returns=TodoView)
    def mark(call: Call, subject_access: SubjectAccess) -> TodoView:
        """Add a todo for the caller on a subject."""
        user_id = call.actor.user_id
        todo_id = service.add_todo(call.db, user_id, user_id, subject_access.subject, "marked")
        if todo_id is None:
            raise Unchanged
        return _todo_response(call, todo_id)

    return mark


def _todo_response(call: Call, todo_id: int) -> TodoView:
    todo = queries.find_todo(call.db, call.actor, todo_id)
    return todo_view(call.db, call.actor, todo, call.origin.base, repository_store(call.settings))
