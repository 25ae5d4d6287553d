"""Boards: the issues of a project, or of all projects of a group, as cards in columns."""

from typing import Any

import msgspec

from ingot.api.params import Missing
from ingot.boards.views import BoardView
from ingot.errors import Conflict, Invalid, NotFound
from ingot.issues.views import IssueView
from ingot.labels.views import LabelBrief
from ingot.web.discussions.ground import ISSUE, Ground, ground_in
from ingot.web.issues.anywhere import PlacedPages, Somewhere, framed
from ingot.web.issues.group_place import GroupPlace
from ingot.web.pages import Redirect, Reply, form_part
from ingot.web.projects.place import Place
from ingot.web.refusals import sentences

placed = PlacedPages()
pages = placed.pages
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


@placed.get("/boards", open=True)
def list_boards(place: Somewhere) -> Reply:
    """The only board, or which there are."""
    boards = place.get("/boards", {"per_page": 100}).items
    if len(boards) == 1:
        return Redirect(f"{place.url}/-/boards/{boards[0].id}")
    return _choose(place, boards)


@placed.form("post", "/boards")
def create_board(place: Somewhere) -> Reply:
    """Make another one."""
    try:
        board = place.call("POST", "/boards", {"name": form_part(place.visit.form, "board", "name")})
    except _REFUSED as refusal:
        return _choose(place, place.get("/boards", {"per_page": 100}).items, sentences(refusal))
    return Redirect(f"{place.url}/-/boards/{board.id}")


@placed.get("/boards/:board_id", open=True)
def show_board(place: Somewhere) -> Reply:
    """The columns with their cards."""
    return _show(place)


@placed.form("put", "/boards/:board_id")
def edit_board(place: Somewhere) -> Reply:
    """Call it something else."""
    return _tried(place, "PUT", "/boards/:board_id", {"name": form_part(place.visit.form, "board", "name")})


@placed.form("delete", "/boards/:board_id")
def delete_board(place: Somewhere) -> Reply:
    """Take it away; the issues stay."""
    refused = _tried(place, "DELETE", "/boards/:board_id", {})
    return refused if not isinstance(refused, Redirect) else Redirect(f"{place.url}/-/boards")


@placed.form("post", "/boards/:board_id/lists")
def add_list(place: Somewhere) -> Reply:
    """A column for a label."""
    return _tried(place, "POST", "/boards/:board_id/lists", {"label_id": place.visit.form.get("label_id")})


@placed.form("put", "/boards/:board_id/lists/:list_id")
def move_list(place: Somewhere) -> Reply:
    """Let a column stand elsewhere."""
    sent = {"position": place.visit.form.get("position")}
    return _tried(place, "PUT", "/boards/:board_id/lists/:list_id", sent, list_id=place.visit.path["list_id"])


@placed.form("delete", "/boards/:board_id/lists/:list_id")
def remove_list(place: Somewhere) -> Reply:
    """Take a column away; the issues keep their label."""
    route = "/boards/:board_id/lists/:list_id"
    return _tried(place, "DELETE", route, {}, list_id=place.visit.path["list_id"])


@placed.form("post", "/boards/:board_id/issues/:issue_iid")
def move_card(place: Somewhere) -> Reply:
    """Move a card into another column, and to its place there."""
    board: BoardView = place.get("/boards/:board_id", board_id=place.visit.path["board_id"])
    labels = {str(each.id): each.label.name for each in board.lists}
    source, target = str(place.visit.form.get("from", "")), str(place.visit.form.get("to", ""))
    if target not in (OPEN, CLOSED, *labels):
        raise NotFound("List")
    card = _card(place)
    try:
        if source != target:
            sent = _moved(card.get(""), labels, source, target)
            card.call("PUT", "", sent)
        if before := str(place.visit.form.get("before") or ""):
            _stand(card, before, anywhere=isinstance(place, GroupPlace))
    except _REFUSED as refusal:
        return _show(place, sentences(refusal))
    return Redirect(f"{place.url}/-/boards/{board.id}")


def _card(place: Somewhere) -> Ground:
    """The issue that is moved; on a group's board the form says of which project it is."""
    iid = place.visit.path["issue_iid"]
    if isinstance(place, Place):
        return ground_in(place, ISSUE, iid)
    project = place.visit.get("/projects/:id", id=str(place.visit.form.get("project_id", "")) or "0")
    if not f"{project.namespace.full_path}/".startswith(f"{place.group.full_path}/"):
        raise NotFound("Issue")
    return ground_in(Place(place.visit, project), ISSUE, iid)


def _stand(card: Ground, before: str, *, anywhere: bool) -> None:
    """Let it stand before another one; those of other projects have an order of their own."""
    try:
        card.call("PUT", "/reorder", {"move_after_id": before})
    except Invalid:
        if not anywhere:
            raise


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


def _tried(place: Somewhere, method: str, route: str, sent: dict[str, Any], **path: str) -> Reply:
    board_id = place.visit.path["board_id"]
    try:
        place.call(method, route, sent, board_id=board_id, **path)
    except _REFUSED as refusal:
        return _show(place, sentences(refusal))
    return Redirect(f"{place.url}/-/boards/{board_id}")


def _choose(place: Somewhere, boards: list[BoardView], errors: list[str] | None = None) -> Reply:
    context: dict[str, Any] = {"boards": boards, "may_change": place.may("POST", "/boards"), "errors": errors or []}
    return framed(place, "issues/boards.html", "boards", context, 422 if errors else 200)


def _show(place: Somewhere, errors: list[str] | None = None) -> Reply:
    board: BoardView = place.get("/boards/:board_id", board_id=place.visit.path["board_id"])
    may_change = place.may("POST", "/boards")
    used = {each.label.id for each in board.lists}
    labels = place.get("/labels", {"per_page": 100, "with_counts": "false"}).items if may_change else []
    context = {
        "board": board,
        "boards": place.get("/boards", {"per_page": 100}).items,
        "columns": _columns(place, board) if place.may("GET", "/issues") else [],
        "of_project": isinstance(place, Place),
        "labels": [label for label in labels if label.id not in used],
        "may_change": may_change,
        "may_move": place.may("POST", "/labels"),
        "may_create": isinstance(place, Place) and place.may("POST", "/issues"),
        "errors": errors or [],
    }
    return framed(place, "issues/board.html", "boards", context, 422 if errors else 200)


def _columns(place: Somewhere, board: BoardView) -> list[Column]:
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


def _column(place: Somewhere, word: str, name: str, wanted: dict[str, Any], label: LabelBrief | None = None) -> Column:
    order = {"order_by": "relative_position", "sort": "asc"} if word != CLOSED else {"order_by": "updated_at"}
    sent = {**wanted, **order, "per_page": _MOST_CARDS, "with_labels_details": "true"}
    found = place.get("/issues", sent)
    return Column(word, name, label, found.items, found.total)
