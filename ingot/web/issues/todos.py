"""To-do list of the current user."""

from itertools import groupby
from typing import Any

from ingot.collaboration.todos import api as todos_api
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, local_path

pages = PageRoutes()
ACTIONS = {
    "assigned": "assigned you",
    "mentioned": "mentioned you on",
    "directly_addressed": "directly addressed you on",
    "marked": "added",
    "build_failed": "had a failed pipeline on",
    "approval_required": "asks you to approve",
    "unmergeable": "cannot merge",
    "merge_train_removed": "was removed from the merge train:",
    "review_requested": "asks you to review",
    "review_submitted": "requested changes on",
}
TYPES = {"Issue": "Issues", "MergeRequest": "Merge requests", "Commit": "Commits"}


@pages.get("/dashboard/todos")
def list_todos(visit: Visit) -> PageResponse:
    """List the to-do items by project, newest first."""
    filters = _todo_filters(visit)
    params = {name: value for name, value in filters.items() if value}
    todos = visit.ask(todos_api.list_todos, {**params, "page": visit.request.page, "per_page": 50})
    newest = sorted(todos.items, key=lambda todo: -todo.id)
    order = {number: index for index, number in reversed(list(enumerate(todo.project.id for todo in newest)))}
    newest.sort(key=lambda todo: order[todo.project.id])
    groups = [(items[0].project, items) for items in _by_project(newest)]
    context = {
        "todos": todos,
        "groups": groups,
        "filters": filters,
        "actions": ACTIONS,
        "types": TYPES,
        "projects": {todo.project.id: todo.project for todo in newest},
    }
    return TemplateResponse("issues/todos.html", context)


@pages.post("/dashboard/todos/:todo_id/done", notice="To-do item marked as done.")
def mark_todo_done(visit: Visit) -> PageResponse:
    """Mark a to-do item as done."""
    visit.ask(todos_api.finish_todo, id=visit.request.path["todo_id"])
    return _back(visit)


@pages.post("/dashboard/todos/done", notice="All to-do items marked as done.")
def mark_all_todos_done(visit: Visit) -> PageResponse:
    """Mark all to-do items as done."""
    visit.ask(todos_api.finish_todos)
    return _back(visit)


def _by_project(todos: list[Any]) -> list[list[Any]]:
    return [list(some) for _, some in groupby(todos, key=lambda todo: todo.project.id)]


def _todo_filters(visit: Visit) -> dict[str, str]:
    """Return the filters of the query string, without invalid values."""
    allowed = {"state": ("pending", "done"), "type": TYPES, "action": ACTIONS}
    filters = {name: str(visit.request.query.get(name, "")) for name in allowed}
    filters = {name: value if value in allowed[name] else "" for name, value in filters.items()}
    number = visit.request.query.get("project_id")
    filters["project_id"] = ""
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 19:
        filters["project_id"] = number
    return filters


def _back(visit: Visit) -> LocalRedirect:
    back = local_path(visit.request.form.get("back")) or ""
    return LocalRedirect(back if back.startswith("/dashboard/todos") else "/dashboard/todos")
