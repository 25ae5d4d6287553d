"""Boards: the issues of a project as cards in columns."""

from typing import Any

import msgspec

from ingot.api.params import Missing
from ingot.boards.views import BoardView
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid, NotFound
from ingot.issues.views import IssueView
from ingot.labels.views import LabelBrief
from ingot.web.pages import Pages, Redirect, Reply, Visit, form_part
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import sentences

pages = Pages()
OPEN, CLOSED = "open", "closed"
_MOST_CARDS = 50
_MOST_EXCLUDED = 20
_REFUSED = (Invalid, Conflict, Missing)


class Column(msgspec.Struct, frozen=True):
    """A list of cards: of a label, of what is open besides, or of what is closed."""

    word: str
    """The list's number, or what it holds."""
    name: str
    label: LabelBrief | None
    cards: list[IssueView]
    total: int | None


@pages.get("/:path/-/boards", open=True)
def list_boards(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The only board, or which there are."""
    place = place_of(visit)
    boards = place.get("/boards", {"per_page": 100}).items
    if len(boards) == 1:
        return Redirect(f"{place.url}/-/boards/{boards[0].id}")
    return _choose(place, boards)


@pages.post("/:path/-/boards")
def create_board(visit: Visit) -> Reply:
    """Make another one."""
    place = place_of(visit)
    try:
        board = place.call("POST", "/boards", {"name": form_part(visit.form, "board", "name")})
    except _REFUSED as refusal:
        return _choose(place, place.get("/boards", {"per_page": 100}).items, sentences(refusal))
    return Redirect(f"{place.url}/-/boards/{board.id}")


@pages.get("/:path/-/boards/:board_id", open=True)
def show_board(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The columns with their cards."""
    return _show(place_of(visit))


@pages.put("/:path/-/boards/:board_id")
def edit_board(visit: Visit) -> Reply:
    """Call it something else."""
    place = place_of(visit)
    return _tried(place, "PUT", "/boards/:board_id", {"name": form_part(visit.form, "board", "name")})


@pages.delete("/:path/-/boards/:board_id")
def delete_board(visit: Visit) -> Reply:
    """Take it away; the issues stay."""
    place = place_of(visit)
    refused = _tried(place, "DELETE", "/boards/:board_id", {})
    return refused if not isinstance(refused, Redirect) else Redirect(f"{place.url}/-/boards")


@pages.post("/:path/-/boards/:board_id/lists")
def add_list(visit: Visit) -> Reply:
    """A column for a label."""
    return _tried(place_of(visit), "POST", "/boards/:board_id/lists", {"label_id": visit.form.get("label_id")})


@pages.put("/:path/-/boards/:board_id/lists/:list_id")
def move_list(visit: Visit) -> Reply:
    """Let a column stand elsewhere."""
    sent = {"position": visit.form.get("position")}
    return _tried(place_of(visit), "PUT", "/boards/:board_id/lists/:list_id", sent, list_id=visit.path["list_id"])


@pages.delete("/:path/-/boards/:board_id/lists/:list_id")
def remove_list(visit: Visit) -> Reply:
    """Take a column away; the issues keep their label."""
    route = "/boards/:board_id/lists/:list_id"
    return _tried(place_of(visit), "DELETE", route, {}, list_id=visit.path["list_id"])


@pages.post("/:path/-/boards/:board_id/issues/:issue_iid")
def move_card(visit: Visit) -> Reply:
    """Move a card into another column, and to its place there."""
    place = place_of(visit)
    board: BoardView = place.get("/boards/:board_id", board_id=visit.path["board_id"])
    labels = {str(each.id): each.label.name for each in board.lists}
    source, target = str(visit.form.get("from", "")), str(visit.form.get("to", ""))
    if target not in (OPEN, CLOSED, *labels):
        raise NotFound("List")
    iid = visit.path["issue_iid"]
    try:
        if source != target:
            sent = _moved(place.get("/issues/:issue_iid", issue_iid=iid), labels, source, target)
            place.call("PUT", "/issues/:issue_iid", sent, issue_iid=iid)
        if before := str(visit.form.get("before") or ""):
            place.call("PUT", "/issues/:issue_iid/reorder", {"move_after_id": before}, issue_iid=iid)
    except _REFUSED as refusal:
        return _show(place, sentences(refusal))
    return Redirect(f"{place.url}/-/boards/{board.id}")


def _moved(issue: IssueView, labels: dict[str, str], source: str, target: str) -> dict[str, Any]:
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


def _tried(place: Place, method: str, route: str, sent: dict[str, Any], **path: str) -> Reply:
    board_id = place.visit.path["board_id"]
    try:
        place.call(method, route, sent, board_id=board_id, **path)
    except _REFUSED as refusal:
        return _show(place, sentences(refusal))
    return Redirect(f"{place.url}/-/boards/{board_id}")


def _choose(place: Place, boards: list[BoardView], errors: list[str] | None = None) -> Reply:
    context = {"boards": boards, "may_change": place.may("POST", "/boards"), "errors": errors or []}
    return place.page("issues/boards.html", "issues", context, 422 if errors else 200)


def _show(place: Place, errors: list[str] | None = None) -> Reply:
    board: BoardView = place.get("/boards/:board_id", board_id=place.visit.path["board_id"])
    may_change = place.may("POST", "/boards")
    used = {each.label.id for each in board.lists}
    labels = place.get("/labels", {"per_page": 100, "with_counts": "false"}).items if may_change else []
    context = {
        "board": board,
        "boards": place.get("/boards", {"per_page": 100}).items,
        "columns": _columns(place, board) if place.may("GET", "/issues") else [],
        "labels": [label for label in labels if label.id not in used],
        "may_change": may_change,
        "may_move": place.may("POST", "/labels"),
        "may_create": place.may("POST", "/issues"),
        "errors": errors or [],
    }
    return place.page("issues/board.html", "issues", context, 422 if errors else 200)


def _columns(place: Place, board: BoardView) -> list[Column]:
    names = [each.label.name for each in board.lists]
    columns = [
        _column(place, str(each.id), each.label.name, {"state": "opened", "labels": [each.label.name]}, each.label)
        for each in board.lists
    ]
    if not board.hide_backlog_list:
        excluded = {"not": {"labels": names[:_MOST_EXCLUDED]}} if names else {}
        columns.insert(0, _column(place, OPEN, "Open", {"state": "opened", **excluded}))
    if not board.hide_closed_list:
        columns.append(_column(place, CLOSED, "Closed", {"state": "closed"}))
    return columns


def _column(place: Place, word: str, name: str, wanted: dict[str, Any], label: LabelBrief | None = None) -> Column:
    order = {"order_by": "relative_position", "sort": "asc"} if word != CLOSED else {"order_by": "updated_at"}
    sent = {**wanted, **order, "per_page": _MOST_CARDS, "with_labels_details": "true"}
    found = place.get("/issues", sent)
    return Column(word, name, label, found.items, found.total)
