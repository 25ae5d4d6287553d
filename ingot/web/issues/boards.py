"""Boards: the issues of a project, or of all projects of a group, as cards in columns."""

from typing import Any

import msgspec

from ingot.collaboration.boards.views import BoardView
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.labels.views import LabelBrief
from ingot.core.api.params import MissingParameter
from ingot.errors import Conflict, Invalid, NotFound
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_in
from ingot.web.form_errors import error_messages
from ingot.web.issues.group_context import GroupContext
from ingot.web.issues.planning_parent import ProjectOrGroupContext, SharedPages, framed_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
OPEN, CLOSED = "open", "closed"
_MAX_CARDS = 50
_MAX_EXCLUDED = 20
_REJECTED = (Invalid, Conflict, MissingParameter)


class BoardColumn(msgspec.Struct, frozen=True):
    """A list of cards: of a label, of what is open besides, or of what is closed."""

    word: str
    """The list's number, or what it holds."""
    name: str
    label: LabelBrief | None
    cards: list[IssueView]
    total: int | None


@shared_pages.get("/boards", open=True)
def list_boards(place: ProjectOrGroupContext) -> PageResponse:
    """The only board, or which there are."""
    boards = place.get("/boards", {"per_page": 100}).items
    if len(boards) == 1:
        return LocalRedirect(f"{place.url}/-/boards/{boards[0].id}")
    return _boards_page(place, boards)


@shared_pages.form("post", "/boards")
def create_board(place: ProjectOrGroupContext) -> PageResponse:
    """Make another one."""
    try:
        board = place.call("POST", "/boards", {"name": form_field(place.visit.form, "board", "name")})
    except _REJECTED as refusal:
        return _boards_page(place, place.get("/boards", {"per_page": 100}).items, error_messages(refusal))
    return LocalRedirect(f"{place.url}/-/boards/{board.id}")


@shared_pages.get("/boards/:board_id", open=True)
def show_board(place: ProjectOrGroupContext) -> PageResponse:
    """The columns with their cards."""
    return _board_page(place)


@shared_pages.form("put", "/boards/:board_id")
def edit_board(place: ProjectOrGroupContext) -> PageResponse:
    """Call it something else."""
    return _submit(place, "PUT", "/boards/:board_id", {"name": form_field(place.visit.form, "board", "name")})


@shared_pages.form("delete", "/boards/:board_id")
def delete_board(place: ProjectOrGroupContext) -> PageResponse:
    """Take it away; the issues stay."""
    refused = _submit(place, "DELETE", "/boards/:board_id", {})
    return refused if not isinstance(refused, LocalRedirect) else LocalRedirect(f"{place.url}/-/boards")


@shared_pages.form("post", "/boards/:board_id/lists")
def add_list(place: ProjectOrGroupContext) -> PageResponse:
    """A column for a label."""
    return _submit(place, "POST", "/boards/:board_id/lists", {"label_id": place.visit.form.get("label_id")})


@shared_pages.form("put", "/boards/:board_id/lists/:list_id")
def move_list(place: ProjectOrGroupContext) -> PageResponse:
    """Let a column stand elsewhere."""
    sent = {"position": place.visit.form.get("position")}
    return _submit(place, "PUT", "/boards/:board_id/lists/:list_id", sent, list_id=place.visit.path["list_id"])


@shared_pages.form("delete", "/boards/:board_id/lists/:list_id")
def remove_list(place: ProjectOrGroupContext) -> PageResponse:
    """Take a column away; the issues keep their label."""
    route = "/boards/:board_id/lists/:list_id"
    return _submit(place, "DELETE", route, {}, list_id=place.visit.path["list_id"])


@shared_pages.form("post", "/boards/:board_id/issues/:issue_iid")
def move_card(place: ProjectOrGroupContext) -> PageResponse:
    """Move a card into another column, and to its place there."""
    board: BoardView = place.get("/boards/:board_id", board_id=place.visit.path["board_id"])
    labels = {str(each.id): each.label.name for each in board.lists}
    source, target = str(place.visit.form.get("from", "")), str(place.visit.form.get("to", ""))
    if target not in (OPEN, CLOSED, *labels):
        raise NotFound("List")
    card = _card(place)
    try:
        if source != target:
            sent = _label_changes(card.get(""), labels, source, target)
            card.call("PUT", "", sent)
        if before := str(place.visit.form.get("before") or ""):
            _reorder_card(card, before, anywhere=isinstance(place, GroupContext))
    except _REJECTED as refusal:
        return _board_page(place, error_messages(refusal))
    return LocalRedirect(f"{place.url}/-/boards/{board.id}")


def _card(place: ProjectOrGroupContext) -> Discussable:
    """The issue that is moved; on a group's board the form says of which project it is."""
    iid = place.visit.path["issue_iid"]
    if isinstance(place, ProjectContext):
        return discussable_in(place, ISSUE, iid)
    project = place.visit.get("/projects/:id", id=str(place.visit.form.get("project_id", "")) or "0")
    if not f"{project.namespace.full_path}/".startswith(f"{place.group.full_path}/"):
        raise NotFound("Issue")
    return discussable_in(ProjectContext(place.visit, project), ISSUE, iid)


def _reorder_card(card: Discussable, before: str, *, anywhere: bool) -> None:
    """Let it stand before another one; those of other projects have an order of their own."""
    try:
        card.call("PUT", "/reorder", {"move_after_id": before})
    except Invalid:
        if not anywhere:
            raise


def _label_changes(issue: IssueView, labels: dict[str, str], source: str, target: str) -> dict[str, Any]:
    """What changes of an issue by that; who leaves the columns of labels leaves them all."""
    gone = [labels[source]] if source in labels else []
    if target in (OPEN, CLOSED):
        gone = list(labels.values())
    sent: dict[str, Any] = {"remove_labels": [name for name in gone if name in issue.labels]}
    if target in labels:
        sent["add_labels"] = [labels[target]]
    if (target == CLOSED) is not (issue.state == "closed"):
        sent["state_event"] = "close" if target == CLOSED else "reopen"
    return sent


def _submit(place: ProjectOrGroupContext, method: str, route: str, sent: dict[str, Any], **path: str) -> PageResponse:
    board_id = place.visit.path["board_id"]
    try:
        place.call(method, route, sent, board_id=board_id, **path)
    except _REJECTED as refusal:
        return _board_page(place, error_messages(refusal))
    return LocalRedirect(f"{place.url}/-/boards/{board_id}")


def _boards_page(
    place: ProjectOrGroupContext, boards: list[BoardView], errors: list[str] | None = None
) -> PageResponse:
    context: dict[str, Any] = {"boards": boards, "may_change": place.may("POST", "/boards"), "errors": errors or []}
    return framed_page(place, "issues/boards.html", "boards", context, 422 if errors else 200)


def _board_page(place: ProjectOrGroupContext, errors: list[str] | None = None) -> PageResponse:
    board: BoardView = place.get("/boards/:board_id", board_id=place.visit.path["board_id"])
    may_change = place.may("POST", "/boards")
    used = {each.label.id for each in board.lists}
    labels = place.get("/labels", {"per_page": 100, "with_counts": "false"}).items if may_change else []
    context = {
        "board": board,
        "boards": place.get("/boards", {"per_page": 100}).items,
        "columns": _columns(place, board) if place.may("GET", "/issues") else [],
        "of_project": isinstance(place, ProjectContext),
        "labels": [label for label in labels if label.id not in used],
        "may_change": may_change,
        "may_move": place.may("POST", "/labels"),
        "may_create": isinstance(place, ProjectContext) and place.may("POST", "/issues"),
        "errors": errors or [],
    }
    return framed_page(place, "issues/board.html", "boards", context, 422 if errors else 200)


def _columns(place: ProjectOrGroupContext, board: BoardView) -> list[BoardColumn]:
    names = [each.label.name for each in board.lists]
    columns = [
        _column(place, str(each.id), each.label.name, {"state": "opened", "labels": [each.label.name]}, each.label)
        for each in board.lists
    ]
    if not board.hide_backlog_list:
        excluded = {"not": {"labels": names[:_MAX_EXCLUDED]}} if names else {}
        columns.insert(0, _column(place, OPEN, "Open", {"state": "opened", **excluded}))
    if not board.hide_closed_list:
        columns.append(_column(place, CLOSED, "Closed", {"state": "closed"}))
    return columns


def _column(
    place: ProjectOrGroupContext, word: str, name: str, wanted: dict[str, Any], label: LabelBrief | None = None
) -> BoardColumn:
    order = {"order_by": "relative_position", "sort": "asc"} if word != CLOSED else {"order_by": "updated_at"}
    sent = {**wanted, **order, "per_page": _MAX_CARDS, "with_labels_details": "true"}
    found = place.get("/issues", sent)
    return BoardColumn(word, name, label, found.items, found.total)
