"""Boards: the issues of a project or group as cards in columns."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.boards import api as boards_api
from ingot.collaboration.boards.moves import move_changes
from ingot.collaboration.boards.views import BoardView
from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.issues.positions import api as issue_positions_api
from ingot.collaboration.issues.views import IssueView
from ingot.collaboration.labels import api as labels_api
from ingot.core.api.params import number_or_none
from ingot.core.errors import Invalid, NotFound
from ingot.projects.groups import api as groups_api
from ingot.projects.projects import api as projects_api
from ingot.projects.sharing import api as sharing_api
from ingot.web.discussions.discussable import ISSUE, Discussable, discussable_in
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.formats import with_query
from ingot.web.issues.board_columns import CLOSED, MAX_CARDS, OPEN, board_columns, board_lanes
from ingot.web.issues.group_context import GroupContext, ProjectOrGroupContext
from ingot.web.issues.list_filters import BOARD_FILTERS, filter_choices
from ingot.web.issues.planning_parent import SharedPages, planning_page
from ingot.web.page_routes import LocalRedirect, PageResponse, form_field, text_field
from ingot.web.projects.context import ProjectContext

shared_pages = SharedPages()
pages = shared_pages.pages
_KINDS = ("label", "assignee", "milestone")


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
    """Add a column for a label, an assignee or a milestone; the choice names one of them and its id."""
    name, _, subject_id = text_field(parent.visit.request.form, "list").partition(" ")
    return _submit(
        parent, boards_api.create_board_list, {name: subject_id} if name.removesuffix("_id") in _KINDS else {}
    )


@shared_pages.form("put", "/boards/:board_id/lists/:list_id", notice="List saved.")
def edit_list(parent: ProjectOrGroupContext) -> PageResponse:
    """Move a column, or limit the number of its issues."""
    form = parent.visit.request.form
    params: dict[str, Any] = {name: form[name] or 0 for name in ("position", "max_issue_count") if name in form}
    return _submit(parent, boards_api.edit_board_list, params, list_id=parent.visit.request.path["list_id"])


@shared_pages.form("delete", "/boards/:board_id/lists/:list_id", notice="List removed.")
def remove_list(parent: ProjectOrGroupContext) -> PageResponse:
    """Remove a column; the issues retain their label."""
    return _submit(parent, boards_api.delete_board_list, {}, list_id=parent.visit.request.path["list_id"])


@shared_pages.form("post", "/boards/:board_id/issues/:issue_iid", notice="Issue moved.")
def move_card(parent: ProjectOrGroupContext) -> PageResponse:
    """Move a card to another column and position."""
    board: BoardView = parent.ask(boards_api.get_board, board_id=parent.visit.request.path["board_id"])
    source, target = (text_field(parent.visit.request.form, name) for name in ("from", "to"))
    if target not in (OPEN, CLOSED, *(str(each.id) for each in board.lists)):
        raise NotFound("List")
    card = _card(parent)
    try:
        params = _card_changes(card.ask(issues_api.get_issue), board, source, target) if source != target else {}
        params |= _lane_changes(card, parent.visit.request.form, params)
        if params:
            card.ask(issues_api.edit_issue, params)
        if before := text_field(parent.visit.request.form, "before"):
            _reorder_card(card, before, anywhere=isinstance(parent, GroupContext))
    except FORM_ERRORS as error:
        return _board_page(parent, error_messages(error))
    return _to_board(parent, board.id)


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


def _card_changes(issue: IssueView, board: BoardView, source: str, target: str) -> dict[str, Any]:
    """Return the changes for a move between columns.

    The open column has no issues of any list; a closed issue keeps its assignees and its milestone.
    """
    by_key = {str(each.id): each for each in board.lists}
    left = [by_key[source]] if source in by_key else []
    if target == OPEN:
        left = board.lists
    elif target == CLOSED:
        left = [each for each in board.lists if each.label]
    params = move_changes(issue, left, by_key.get(target))
    if (target == CLOSED) is not (issue.state == "closed"):
        params["state_event"] = "close" if target == CLOSED else "reopen"
    return params


def _lane_changes(card: Discussable, form: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the change of the assignees for a move between lanes; ``0`` is the lane without assignee."""
    source, target = (number_or_none(text_field(form, name)) for name in ("from_lane", "to_lane"))
    if source is None or target is None or source == target:
        return {}
    current = params.get("assignee_ids") or [person.id for person in card.ask(issues_api.get_issue).assignees]
    kept = [user_id for user_id in current if user_id not in (source, target)] if target else []
    return {"assignee_ids": [*kept, target] if target else []}


def _submit(
    parent: ProjectOrGroupContext, endpoint: Callable[..., object], params: dict[str, Any], **path: str
) -> PageResponse:
    board_id = parent.visit.request.path["board_id"]
    try:
        parent.ask(endpoint, params, board_id=board_id, **path)
    except FORM_ERRORS as error:
        return _board_page(parent, error_messages(error))
    return _to_board(parent, int(board_id))


def _to_board(parent: ProjectOrGroupContext, board_id: int) -> LocalRedirect:
    """Redirect to a board, with the filters that the form was sent from."""
    query = with_query(parent.visit.request.query)
    return LocalRedirect(f"{parent.url}/-/boards/{board_id}{query if query != '?' else ''}")


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
    visit = parent.visit
    board: BoardView = parent.ask(boards_api.get_board, board_id=visit.request.path["board_id"])
    filters = BOARD_FILTERS.parse_query(visit.request.query)
    may_change = parent.may(boards_api.create_board)
    may_list = parent.may(parent.either(issues_api.list_project_issues, issues_api.list_group_issues))
    columns = board_columns(parent, board, filters) if may_list else []
    choices: dict[str, Any] = filter_choices(parent) if may_list else {"labels": [], "milestones": []}
    query = with_query(visit.request.query)
    context = {
        **choices,
        "board": board,
        "boards": parent.ask(boards_api.list_boards, {"per_page": 100}).items,
        "filters": filters,
        "query": query if query != "?" else "",
        "columns": columns,
        "lanes": board_lanes(columns) if visit.request.query.get("group_by") == "assignee" else None,
        "max_cards": MAX_CARDS,
        "of_project": isinstance(parent, ProjectContext),
        "new_lists": _new_lists(parent, board, choices) if may_change else {},
        "may_change": may_change,
        "may_move": parent.may(parent.either(labels_api.create_project_label, labels_api.create_group_label)),
        "may_create": isinstance(parent, ProjectContext) and parent.may(issues_api.create_issue),
        "errors": errors or [],
    }
    return planning_page(parent, "issues/board.html", "boards", context, 422 if errors else 200)


def _new_lists(
    parent: ProjectOrGroupContext, board: BoardView, choices: dict[str, Any]
) -> dict[str, list[tuple[str, str]]]:
    """Return the labels, people and milestones that have no list yet, as choices of the form."""
    members = parent.either(sharing_api.list_all_project_members, groups_api.list_all_group_members)
    people = parent.ask(members, {"per_page": 100}).items
    taken = {f"{kind}_id {getattr(each, kind).id}" for each in board.lists for kind in _KINDS if getattr(each, kind)}
    groups = {
        "Labels": [(f"label_id {each.id}", each.name) for each in choices["labels"]],
        "People": [(f"assignee_id {each.id}", each.name) for each in people],
        "Milestones": [(f"milestone_id {each.id}", each.title) for each in choices["milestones"]],
    }
    return {name: [choice for choice in group if choice[0] not in taken] for name, group in groups.items()}
