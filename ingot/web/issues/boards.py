"""Boards: the issues of a project or group as cards in columns."""

from collections.abc import Callable
from typing import Any

import msgspec

from ingot.collaboration.boards import api as boards_api
from ingot.collaboration.boards.views import BoardView
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.positions import api as issue_positions_api
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.views import LabelBrief
from ingot.core.errors import Invalid, NotFound
from ingot.projects.projects import api as projects_api
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_in
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.issues.group_context import GroupContext, ProjectOrGroupContext
from ingot.web.issues.planning_parent import SharedPages, planning_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
OPEN, CLOSED = "open", "closed"
_MAX_CARDS = 50
_MAX_EXCLUDED = 20


class BoardColumn(msgspec.Struct, frozen=True):
    """Column of a board: a label's list, or all other open or all closed issues."""

    key: str
    """Id of the list, or ``open`` or ``closed``."""
    name: str
    label: LabelBrief | None
    cards: list[IssueView]
    total: int | None


@shared_pages.get("/boards", open=True)
def list_boards(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the only board, or the list of boards."""
    boards = parent.ask(boards_api.list_boards, {"per_page": 100}).items
    if len(boards) == 1:
        return LocalRedirect(f"{parent.url}/-/boards/{boards[0].id}")
    return _boards_page(parent, boards)


@shared_pages.form("post", "/boards", notice="Board created.")
def create_board(parent: ProjectOrGroupContext) -> PageResponse:
    """Create a board."""
    try:
        board = parent.ask(boards_api.create_board, {"name": form_field(parent.visit.request.form, "board", "name")})
    except FORM_ERRORS as error:
        return _boards_page(parent, parent.ask(boards_api.list_boards, {"per_page": 100}).items, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/boards/{board.id}")


@shared_pages.get("/boards/:board_id", open=True)
def show_board(parent: ProjectOrGroupContext) -> PageResponse:
    """Show the columns with their cards."""
    return _board_page(parent)


@shared_pages.form("put", "/boards/:board_id", notice="Board saved.")
def edit_board(parent: ProjectOrGroupContext) -> PageResponse:
    """Rename a board."""
    return _submit(parent, boards_api.edit_board, {"name": form_field(parent.visit.request.form, "board", "name")})


@shared_pages.form("delete", "/boards/:board_id", notice="Board deleted.")
def delete_board(parent: ProjectOrGroupContext) -> PageResponse:
    """Delete a board; its issues remain."""
    response = _submit(parent, boards_api.delete_board, {})
    return response if not isinstance(response, LocalRedirect) else LocalRedirect(f"{parent.url}/-/boards")


@shared_pages.form("post", "/boards/:board_id/lists", notice="List added.")
def add_list(parent: ProjectOrGroupContext) -> PageResponse:
    """Add a column for a label."""
    return _submit(parent, boards_api.create_board_list, {"label_id": parent.visit.request.form.get("label_id")})


@shared_pages.form("put", "/boards/:board_id/lists/:list_id", notice="List moved.")
def move_list(parent: ProjectOrGroupContext) -> PageResponse:
    """Move a column."""
    params = {"position": parent.visit.request.form.get("position")}
    return _submit(parent, boards_api.move_board_list, params, list_id=parent.visit.request.path["list_id"])


@shared_pages.form("delete", "/boards/:board_id/lists/:list_id", notice="List removed.")
def remove_list(parent: ProjectOrGroupContext) -> PageResponse:
    """Remove a column; the issues retain their label."""
    return _submit(parent, boards_api.delete_board_list, {}, list_id=parent.visit.request.path["list_id"])


@shared_pages.form("post", "/boards/:board_id/issues/:issue_iid", notice="Issue moved.")
def move_card(parent: ProjectOrGroupContext) -> PageResponse:
    """Move a card to another column and position."""
    board: BoardView = parent.ask(boards_api.get_board, board_id=parent.visit.request.path["board_id"])
    labels = {str(each.id): each.label.name for each in board.lists}
    source, target = str(parent.visit.request.form.get("from", "")), str(parent.visit.request.form.get("to", ""))
    if target not in (OPEN, CLOSED, *labels):
        raise NotFound("List")
    card = _card(parent)
    try:
        if source != target:
            params = _label_changes(card.ask(issues_api.get_issue), labels, source, target)
            card.ask(issues_api.edit_issue, params)
        if before := str(parent.visit.request.form.get("before") or ""):
            _reorder_card(card, before, anywhere=isinstance(parent, GroupContext))
    except FORM_ERRORS as error:
        return _board_page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/boards/{board.id}")


def _card(parent: ProjectOrGroupContext) -> Discussable:
    """Return the issue to be moved; on a group's board the form names its project."""
    iid = parent.visit.request.path["issue_iid"]
    if isinstance(parent, ProjectContext):
        return discussable_in(parent, ISSUE, iid)
    project = parent.visit.ask(projects_api.get_project, id=str(parent.visit.request.form.get("project_id", "")) or "0")
    if not f"{project.namespace.full_path}/".startswith(f"{parent.group.full_path}/"):
        raise NotFound("Issue")
    return discussable_in(ProjectContext(parent.visit, project), ISSUE, iid)


def _reorder_card(card: Discussable, before: str, *, anywhere: bool) -> None:
    """Move the issue before another one; the order applies only to issues of the same project."""
    try:
        card.ask(issue_positions_api.reorder_issue, {"move_after_id": before})
    except Invalid:
        if not anywhere:
            raise


def _label_changes(issue: IssueView, labels: dict[str, str], source: str, target: str) -> dict[str, Any]:
    """Return the changes for a move between columns; leaving the label columns removes all of their labels."""
    removed = [labels[source]] if source in labels else []
    if target in (OPEN, CLOSED):
        removed = list(labels.values())
    params: dict[str, Any] = {"remove_labels": [name for name in removed if name in issue.labels]}
    if target in labels:
        params["add_labels"] = [labels[target]]
    if (target == CLOSED) is not (issue.state == "closed"):
        params["state_event"] = "close" if target == CLOSED else "reopen"
    return params


def _submit(
    parent: ProjectOrGroupContext, endpoint: Callable[..., object], params: dict[str, Any], **path: str
) -> PageResponse:
    board_id = parent.visit.request.path["board_id"]
    try:
        parent.ask(endpoint, params, board_id=board_id, **path)
    except FORM_ERRORS as error:
        return _board_page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/boards/{board_id}")


def _boards_page(
    parent: ProjectOrGroupContext, boards: list[BoardView], errors: list[str] | None = None
) -> PageResponse:
    context: dict[str, Any] = {
        "boards": boards,
        "may_change": parent.may(boards_api.create_board),
        "errors": errors or [],
    }
    return planning_page(parent, "issues/boards.html", "boards", context, 422 if errors else 200)


def _board_page(parent: ProjectOrGroupContext, errors: list[str] | None = None) -> PageResponse:
    board: BoardView = parent.ask(boards_api.get_board, board_id=parent.visit.request.path["board_id"])
    may_change = parent.may(boards_api.create_board)
    used = {each.label.id for each in board.lists}
    labels = (
        parent.ask(
            parent.either(labels_api.list_project_labels, labels_api.list_group_labels),
            {"per_page": 100, "with_counts": "false"},
        ).items
        if may_change
        else []
    )
    context = {
        "board": board,
        "boards": parent.ask(boards_api.list_boards, {"per_page": 100}).items,
        "columns": _columns(parent, board)
        if parent.may(parent.either(issues_api.list_project_issues, issues_api.list_group_issues))
        else [],
        "of_project": isinstance(parent, ProjectContext),
        "labels": [label for label in labels if label.id not in used],
        "may_change": may_change,
        "may_move": parent.may(parent.either(labels_api.create_project_label, labels_api.create_group_label)),
        "may_create": isinstance(parent, ProjectContext) and parent.may(issues_api.create_issue),
        "errors": errors or [],
    }
    return planning_page(parent, "issues/board.html", "boards", context, 422 if errors else 200)


def _columns(parent: ProjectOrGroupContext, board: BoardView) -> list[BoardColumn]:
    names = [each.label.name for each in board.lists]
    columns = [
        _column(parent, str(each.id), each.label.name, {"state": "opened", "labels": [each.label.name]}, each.label)
        for each in board.lists
    ]
    if not board.hide_backlog_list:
        excluded = {"not": {"labels": names[:_MAX_EXCLUDED]}} if names else {}
        columns.insert(0, _column(parent, OPEN, "Open", {"state": "opened", **excluded}))
    if not board.hide_closed_list:
        columns.append(_column(parent, CLOSED, "Closed", {"state": "closed"}))
    return columns


def _column(
    parent: ProjectOrGroupContext, key: str, name: str, filters: dict[str, Any], label: LabelBrief | None = None
) -> BoardColumn:
    order = {"order_by": "relative_position", "sort": "asc"} if key != CLOSED else {"order_by": "updated_at"}
    params = {**filters, **order, "per_page": _MAX_CARDS, "with_labels_details": "true"}
    issues = parent.ask(parent.either(issues_api.list_project_issues, issues_api.list_group_issues), params)
    return BoardColumn(key, name, label, issues.items, issues.total)
