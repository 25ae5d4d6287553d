"""Mutations of labels, milestones, boards and todos."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.boards.moves import move_changes
from ingot.collaboration.todos.queries import find_todo
from ingot.collaboration.todos.service import restore_todo
from ingot.collaboration.todos.views import TodoView
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, Unchanged
from ingot.graphql.context import QueryContext
from ingot.graphql.families.boards import ListedColumn, board_column
from ingot.graphql.families.milestones import milestone_by_id
from ingot.graphql.families.todos import todo_by_id
from ingot.graphql.global_ids import number_of
from ingot.graphql.locators import (
    ParentPath,
    board_list_parent,
    board_parent,
    label_parent,
    milestone_parent,
)
from ingot.graphql.mutations.inputs import Input, optional_number, renamed, row_number
from ingot.graphql.mutations.notes import subject_of
from ingot.graphql.resolvers import Resolvers

resolvers = Resolvers()
MAX_RESTORED_TODOS = 50


def _parent(sent: Input) -> tuple[str, str]:
    """Return the route and path of the project or group in which something is created."""
    given = [name for name in ("projectPath", "groupPath") if sent.get(name)]
    if len(given) != 1:
        raise Invalid("Exactly one of groupPath or projectPath arguments is required")
    return ("/projects/:id" if given[0] == "projectPath" else "/groups/:id"), sent[given[0]]


@resolvers.mutation("labelCreate")
def create_label(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a label of a project or group."""
    route, path = _parent(sent)
    params = {"color": "#428BCA"} | renamed(sent, name="title", color="color", description="description")
    try:
        return {"label": context.call(f"POST {route}/labels", params, id=path)}
    except Conflict:
        raise Invalid(title=["has already been taken"]) from None


@resolvers.mutation("labelUpdate")
def update_label(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a label."""
    number = row_number(sent["id"])
    parent = label_parent(context, number)
    params = renamed(sent, new_name="title", color="color", description="description")
    # REST refuses a call without a change.
    method = "PUT" if params else "GET"
    return {"label": context.call(f"{method} {parent.route}/labels/:label_id", params, id=parent.id, label_id=number)}


@resolvers.mutation("labelDelete")
def delete_label(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a label."""
    number = row_number(sent["id"])
    parent = label_parent(context, number)
    label = context.call(f"GET {parent.route}/labels/:label_id", id=parent.id, label_id=number)
    context.call(f"DELETE {parent.route}/labels/:label_id", id=parent.id, label_id=number)
    return {"label": label}


def _milestone_params(sent: Input) -> dict[str, Any]:
    return renamed(
        sent,
        title="title",
        description="description",
        due_date="dueDate",
        start_date="startDate",
        state_event="stateEvent",
    )


@resolvers.mutation("milestoneCreate")
def create_milestone(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a milestone of a project or group."""
    route, path = _parent(sent)
    return {"milestone": context.call(f"POST {route}/milestones", _milestone_params(sent), id=path)}


@resolvers.mutation("milestoneUpdate")
def update_milestone(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a milestone, close it or activate it."""
    number = number_of(sent["id"], "Milestone")
    parent = milestone_parent(context, number)
    route = f"PUT {parent.route}/milestones/:milestone_id"
    return {"milestone": context.call(route, _milestone_params(sent), id=parent.id, milestone_id=number)}


@resolvers.mutation("milestoneDelete")
def delete_milestone(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a milestone."""
    number = number_of(sent["id"], "Milestone")
    milestone, parent = milestone_by_id(context, number), milestone_parent(context, number)
    context.call(f"DELETE {parent.route}/milestones/:milestone_id", id=parent.id, milestone_id=number)
    return {"milestone": milestone}


def _board(context: QueryContext, sent: Input, field: str = "id") -> tuple[ParentPath, dict[str, int]]:
    number = number_of(sent[field], "Board")
    parent = board_parent(context, number)
    return parent, {"id": parent.id, "board_id": number}


@resolvers.mutation("createBoard")
def create_board(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Create a board of a project or group."""
    route, path = _parent(sent)
    board = context.call(f"POST {route}/boards", {"name": sent.get("name") or "Development"}, id=path)
    hidden = renamed(sent, hide_backlog_list="hideBacklogList", hide_closed_list="hideClosedList")
    if hidden:
        board = context.call(f"PUT {route}/boards/:board_id", hidden, id=path, board_id=board.id)
    return {"board": board}


@resolvers.mutation("updateBoard")
def update_board(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Edit a board."""
    parent, path = _board(context, sent)
    params = renamed(sent, name="name", hide_backlog_list="hideBacklogList", hide_closed_list="hideClosedList")
    return {"board": context.call(f"PUT {parent.route}/boards/:board_id", params, **path)}


@resolvers.mutation("destroyBoard")
def destroy_board(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Delete a board."""
    parent, path = _board(context, sent)
    context.call(f"GET {parent.route}/boards/:board_id", **path)
    context.call(f"DELETE {parent.route}/boards/:board_id", **path)
    return {"board": None}


@resolvers.mutation("boardListCreate")
def create_board_list(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add a list for a label, an assignee or a milestone to a board."""
    parent, path = _board(context, sent, "boardId")
    params: dict[str, Any] = {}
    for field in ("labelId", "assigneeId", "milestoneId"):
        params |= optional_number(sent, field)
    column = context.call(f"POST {parent.route}/boards/:board_id/lists", params, **path)
    if sent.get("position") is not None:
        route = f"PUT {parent.route}/boards/:board_id/lists/:list_id"
        column = context.call(route, {"position": sent["position"]}, list_id=column.id, **path)
    return {"list": ListedColumn(parent, column)}


@resolvers.mutation("boardListUpdateLimitMetrics")
def limit_board_list(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Change the number of issues that a list should not exceed."""
    if sent.get("maxIssueWeight") or sent.get("limitMetric") in ("issue_weights", "all_metrics"):
        raise Invalid("Issues have no weight")
    number = number_of(sent["listId"], "List")
    parent, board_id = board_list_parent(context, number)
    route = f"PUT {parent.route}/boards/:board_id/lists/:list_id"
    path = {"id": parent.id, "board_id": board_id, "list_id": number}
    params = {"max_issue_count": sent.get("maxIssueCount") or 0}
    return {"list": ListedColumn(parent, context.call(route, params, **path))}


@resolvers.mutation("updateBoardList")
def move_board_list(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Move a list to another position."""
    number = number_of(sent["listId"], "List")
    parent, board_id = board_list_parent(context, number)
    route = f"PUT {parent.route}/boards/:board_id/lists/:list_id"
    path = {"id": parent.id, "board_id": board_id, "list_id": number}
    return {"list": ListedColumn(parent, context.call(route, renamed(sent, position="position"), **path))}


@resolvers.mutation("destroyBoardList")
def destroy_board_list(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Remove a list from a board."""
    number = number_of(sent["listId"], "List")
    parent, board_id = board_list_parent(context, number)
    board_column(context, number)
    route = f"DELETE {parent.route}/boards/:board_id/lists/:list_id"
    context.call(route, id=parent.id, board_id=board_id, list_id=number)
    return {"list": None}


@resolvers.mutation("issueMoveList")
def move_issue_on_board(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Move an issue to another list of a board, or between two other issues."""
    path = {"id": sent["projectPath"], "issue_iid": sent["iid"]}
    route = "/projects/:id/issues/:issue_iid"
    left, entered = (
        [board_column(context, row_number(sent[field])).list] if sent.get(field) is not None else []
        for field in ("fromListId", "toListId")
    )
    issue = None
    if left or entered:
        issue = context.call(f"GET {route}", **path)
        params = move_changes(issue, left, entered[0] if entered else None)
        issue = context.call(f"PUT {route}", params, **path) if params else issue
    order = {
        name: row_number(sent[field])
        for name, field in (("move_after_id", "moveAfterId"), ("move_before_id", "moveBeforeId"))
        if sent.get(field) is not None
    }
    if order:
        issue = context.call(f"PUT {route}/reorder", order, **path)
    return {"issue": issue or context.call(f"GET {route}", **path)}


@resolvers.mutation("todoCreate")
def create_todo(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Add a todo on an issue or merge request."""
    place = subject_of(context, sent["targetId"])
    try:
        return {"todo": context.call(f"POST {place.route}/todo", **place.path)}
    except Unchanged:  # The caller has a pending one.
        return {"todo": None}


@resolvers.mutation("todoMarkDone")
def finish_todo(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Mark a todo as done."""
    number = number_of(sent["id"], "Todo")
    todo = todo_by_id(context, number)
    if todo.state == "pending":
        todo = context.call("POST /todos/:id/mark_as_done", id=number)
    return {"todo": todo}


def _restore(context: QueryContext, todo_ids: Sequence[int]) -> list[TodoView]:
    """Make todos of the caller pending again, all or none."""

    def restore(db: Connection) -> None:
        for todo in [find_todo(db, context.actor, todo_id) for todo_id in todo_ids]:
            restore_todo(db, todo)

    context.database.write(restore)
    return [todo_by_id(context, todo_id) for todo_id in todo_ids]


@resolvers.mutation("todoRestore")
def restore_one_todo(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Make a todo pending again."""
    return {"todo": _restore(context, [number_of(sent["id"], "Todo")])[0]}


@resolvers.mutation("todoRestoreMany")
def restore_todos(context: QueryContext, sent: Input) -> dict[str, Any]:
    """Make todos pending again."""
    if len(sent["ids"]) > MAX_RESTORED_TODOS:
        raise Invalid("Too many to-do items requested.")
    return {"todos": _restore(context, [number_of(each, "Todo") for each in sent["ids"]])}


@resolvers.mutation("todosMarkAllDone")
def finish_todos(context: QueryContext, _: Input) -> dict[str, Any]:
    """Mark all pending todos of the caller as done; the payload has the newest hundred."""
    pending = [todo.id for todo in context.call("GET /todos", {"state": "pending", "per_page": 100}).items]
    context.call("POST /todos/mark_as_done")
    done = context.call("GET /todos", {"state": "done", "per_page": 100}).items
    return {"todos": [todo for todo in done if todo.id in pending]}
