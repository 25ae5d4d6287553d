"""Issue boards."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ingot.collaboration.boards.moves import list_filters, list_name
from ingot.collaboration.boards.views import BoardListView, BoardView
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of, to_global_id
from ingot.graphql.locators import ParentPath, board_list_parent
from ingot.graphql.params import issue_filters
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()


class ListedColumn(msgspec.Struct):
    """A list of a board, with the project or group of the board."""

    parent: ParentPath
    list: BoardListView


@resolvers.single("Project.boards")
def list_project_boards(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the boards of a project."""
    return _boards(context, "/projects/:id/boards", project, arguments)


@resolvers.single("Group.boards")
def list_group_boards(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the boards of a group."""
    return _boards(context, "/groups/:id/boards", group, arguments)


def _boards(context: QueryContext, route: str, parent: Any, arguments: Arguments) -> ConnectionPage:
    if arguments.get("id") is not None:
        board = context.call(f"GET {route}/:board_id", id=parent.id, board_id=number_of(arguments["id"], "Board"))
        return connection_of([board], arguments)
    return listed(context, f"GET {route}", arguments, id=parent.id)


@resolvers.single("Project.board")
def find_project_board(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a board of a project."""
    board_id = number_of(arguments["id"], "Board")
    return context.call("GET /projects/:id/boards/:board_id", id=project.id, board_id=board_id)


@resolvers.single("Group.board")
def find_group_board(context: QueryContext, group: Any, arguments: Arguments) -> Any:
    """Return a board of a group."""
    board_id = number_of(arguments["id"], "Board")
    return context.call("GET /groups/:id/boards/:board_id", id=group.id, board_id=board_id)


@resolvers.single("Query.boardList")
def find_board_list(context: QueryContext, _: Any, arguments: Arguments) -> ListedColumn:
    """Return a list of a board."""
    return board_column(context, number_of(arguments["id"], "List"))


def board_column(context: QueryContext, list_id: int) -> ListedColumn:
    """Return a list that the caller may see."""
    parent, board_id = board_list_parent(context, list_id)
    route = f"GET {parent.route}/boards/:board_id/lists/:list_id"
    return ListedColumn(parent, context.call(route, id=parent.id, board_id=board_id, list_id=list_id))


@resolvers.value("Board.id")
def board_id(_: QueryContext, board: BoardView) -> str:
    """Return the global id."""
    return to_global_id("Board", board.id)


def _parent_of(board: BoardView) -> ParentPath:
    if board.project is not None:
        return ParentPath("/projects/:id", board.project.id)
    return ParentPath("/groups/:id", board.group.id if board.group else 0)


@resolvers.value("Board.webUrl")
def board_url(_: QueryContext, board: BoardView) -> str:
    """Return the address of the page of a board."""
    parent = board.project or board.group
    return f"{parent.web_url if parent else ''}/-/boards/{board.id}"


@resolvers.value("Board.webPath")
def board_path(context: QueryContext, board: BoardView) -> str:
    """Return the path of the page of a board."""
    return board_url(context, board).removeprefix(context.origin.base)


@resolvers.batch("Board.lists")
def list_columns(_: QueryContext, boards: Sequence[BoardView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the lists of boards for labels, assignees and milestones."""
    wanted = number_of(arguments["id"], "List") if arguments.get("id") is not None else None
    return [
        connection_of(
            [ListedColumn(_parent_of(board), each) for each in board.lists if wanted is None or each.id == wanted],
            arguments,
        )
        for board in boards
    ]


@resolvers.value("BoardList.id")
def list_id(_: QueryContext, column: ListedColumn) -> str:
    """Return the global id."""
    return to_global_id("List", column.list.id)


@resolvers.value("BoardList.label")
def list_label(_: QueryContext, column: ListedColumn) -> Any:
    """Return the label of a list, if it has one."""
    return column.list.label or None


@resolvers.value("BoardList.assignee")
def list_assignee(_: QueryContext, column: ListedColumn) -> Any:
    """Return the assignee of a list, if it has one."""
    return column.list.assignee or None


@resolvers.value("BoardList.milestone")
def list_milestone(_: QueryContext, column: ListedColumn) -> Any:
    """Return the milestone of a list, if it has one."""
    return column.list.milestone or None


@resolvers.value("BoardList.maxIssueCount")
def list_limit(_: QueryContext, column: ListedColumn) -> int:
    """Return the number of issues that a list should not exceed; 0 is no limit."""
    return column.list.max_issue_count


@resolvers.value("BoardList.maxIssueWeight")
def list_weight_limit(_: QueryContext, column: ListedColumn) -> int:
    """Return 0, since issues have no weight."""
    return column.list.max_issue_weight


@resolvers.value("BoardList.limitMetric")
def list_limit_metric(_: QueryContext, column: ListedColumn) -> str | None:
    """Return what the limit of a list counts, if it has a limit."""
    return column.list.limit_metric


@resolvers.value("BoardList.title")
def list_title(_: QueryContext, column: ListedColumn) -> str:
    """Return the title of a list, which is that of its label, assignee or milestone."""
    return list_name(column.list)


@resolvers.value("BoardList.listType")
def list_type(_: QueryContext, column: ListedColumn) -> str:
    """Return the type of a list."""
    return next(kind for kind in ("label", "assignee", "milestone") if getattr(column.list, kind))


@resolvers.value("BoardList.position")
def list_position(_: QueryContext, column: ListedColumn) -> int:
    """Return the position on the board."""
    return column.list.position


def _issue_params(column: ListedColumn, arguments: Arguments) -> dict[str, Any]:
    filters = dict(arguments.get("filters") or {})
    if filters.get("assigneeUsername"):
        filters["assigneeUsernames"] = [name for name in filters["assigneeUsername"] if name]
    params = {
        "scope": "all",
        "state": "opened",
        "order_by": "relative_position",
        "sort": "asc",
        **issue_filters(filters),
    }
    for name, value in list_filters(column.list).items():
        params[name] = [*(params.get(name) or []), *value] if isinstance(value, list) else value
    return params


@resolvers.single("BoardList.issues")
def list_issues(context: QueryContext, column: ListedColumn, arguments: Arguments) -> ConnectionPage:
    """Return a page of the open issues in a list."""
    params = _issue_params(column, arguments)
    return listed(context, f"GET {column.parent.route}/issues", arguments, params, id=column.parent.id)


@resolvers.single("BoardList.issuesCount")
def count_issues(context: QueryContext, column: ListedColumn, _: Arguments) -> int | None:
    """Return the number of open issues in a list."""
    params = {**_issue_params(column, {}), "per_page": 1}
    total: int | None = context.call(f"GET {column.parent.route}/issues", params, id=column.parent.id).total
    return total
