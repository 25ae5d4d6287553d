"""Endpoints of the boards of projects and groups."""

from ingot.collaboration.boards import policy, queries, service
from ingot.collaboration.boards.params import CreateBoard, CreateList, EditBoard, EditList
from ingot.collaboration.boards.tables import Board
from ingot.collaboration.boards.views import BoardListView, BoardView, board_group_view, board_views, list_views
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page, slice_page
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.parents import ProjectOrGroup, member_source
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls, simple_view

routes = Routes("boards")


def _board_views(call: Call, parent: ProjectOrGroup, boards: list[Board]) -> list[BoardView]:
    if isinstance(parent, Project):
        return board_views(
            call.db,
            boards,
            call.origin.base,
            project=simple_view(parent, instance_urls(call.db, call.origin, call.settings)),
        )
    return board_views(call.db, boards, call.origin.base, group=board_group_view(parent, call.origin.base))


def _board_in_path(call: Call, parent: ProjectOrGroup) -> Board:
    return queries.find_board(call.db, member_source(parent), path_number(call.path, "board_id"))


def _list_view(call: Call, entry: queries.BoardListEntry) -> BoardListView:
    return list_views(call.db, [entry], call.origin.base)[0]


@routes.get("/groups/:id/boards", on=group_in_path, may=may_see_group, returns=list[BoardView])
@routes.get("/projects/:id/boards", on=project_in_path, may=policy.may_read_boards, returns=list[BoardView])
def list_boards(call: Call, parent: ProjectOrGroup, page: Page) -> Listing[BoardView]:
    """List the boards of a project or group."""
    listing = queries.list_boards(call.db, member_source(parent), page)
    return listing.of(_board_views(call, parent, listing.items))


@routes.get("/groups/:id/boards/:board_id", on=group_in_path, may=may_see_group, returns=BoardView)
@routes.get("/projects/:id/boards/:board_id", on=project_in_path, may=policy.may_read_boards, returns=BoardView)
def get_board(call: Call, parent: ProjectOrGroup) -> BoardView:
    """Get a board of a project or group."""
    return _board_views(call, parent, [_board_in_path(call, parent)])[0]


@routes.post("/groups/:id/boards", on=group_in_path, may=policy.may_admin_group_boards, returns=BoardView)
@routes.post("/projects/:id/boards", on=project_in_path, may=policy.may_admin_boards, returns=BoardView)
def create_board(call: Call, parent: ProjectOrGroup, params: CreateBoard) -> BoardView:
    """Create a board of a project or group."""
    return _board_views(call, parent, [service.create_board(call.db, member_source(parent), params.name)])[0]


@routes.put("/groups/:id/boards/:board_id", on=group_in_path, may=policy.may_admin_group_boards, returns=BoardView)
@routes.put("/projects/:id/boards/:board_id", on=project_in_path, may=policy.may_admin_boards, returns=BoardView)
def edit_board(call: Call, parent: ProjectOrGroup, params: EditBoard) -> BoardView:
    """Edit a board of a project or group."""
    return _board_views(
        call, parent, [service.edit_board(call.db, member_source(parent), _board_in_path(call, parent), params)]
    )[0]


@routes.delete("/groups/:id/boards/:board_id", on=group_in_path, may=policy.may_admin_group_boards, returns=None)
@routes.delete("/projects/:id/boards/:board_id", on=project_in_path, may=policy.may_admin_boards, returns=None)
def delete_board(call: Call, parent: ProjectOrGroup) -> None:
    """Delete a board of a project or group."""
    service.delete_board(call.db, member_source(parent), path_number(call.path, "board_id"))


@routes.get("/groups/:id/boards/:board_id/lists", on=group_in_path, may=may_see_group, returns=list[BoardListView])
@routes.get(
    "/projects/:id/boards/:board_id/lists",
    on=project_in_path,
    may=policy.may_read_boards,
    returns=list[BoardListView],
)
def list_board_lists(call: Call, parent: ProjectOrGroup, page: Page) -> Listing[BoardListView]:
    """List the lists of a board; the open and closed lists are not included."""
    board = _board_in_path(call, parent)
    entries = queries.lists_by_board(call.db, [board.id]).get(board.id, [])
    return slice_page(list_views(call.db, entries, call.origin.base), page)


@routes.get("/groups/:id/boards/:board_id/lists/:list_id", on=group_in_path, may=may_see_group, returns=BoardListView)
@routes.get(
    "/projects/:id/boards/:board_id/lists/:list_id",
    on=project_in_path,
    may=policy.may_read_boards,
    returns=BoardListView,
)
def get_board_list(call: Call, parent: ProjectOrGroup) -> BoardListView:
    """Get a list of a board."""
    entry = queries.find_list(call.db, _board_in_path(call, parent), path_number(call.path, "list_id"))
    return _list_view(call, entry)


@routes.post(
    "/groups/:id/boards/:board_id/lists",
    on=group_in_path,
    may=policy.may_admin_group_boards,
    returns=BoardListView,
)
@routes.post(
    "/projects/:id/boards/:board_id/lists", on=project_in_path, may=policy.may_admin_boards, returns=BoardListView
)
def create_board_list(call: Call, parent: ProjectOrGroup, params: CreateList) -> BoardListView:
    """Create a list for a label, an assignee or a milestone on a board."""
    board = _board_in_path(call, parent)
    return _list_view(call, service.create_list(call.db, parent, board, params))


@routes.put(
    "/groups/:id/boards/:board_id/lists/:list_id",
    on=group_in_path,
    may=policy.may_admin_group_boards,
    returns=BoardListView,
)
@routes.put(
    "/projects/:id/boards/:board_id/lists/:list_id",
    on=project_in_path,
    may=policy.may_admin_boards,
    returns=BoardListView,
)
def edit_board_list(call: Call, parent: ProjectOrGroup, params: EditList) -> BoardListView:
    """Move a list of a board to another position, or limit the number of its issues."""
    list_id = path_number(call.path, "list_id")
    return _list_view(call, service.edit_list(call.db, _board_in_path(call, parent), list_id, params))


@routes.delete(
    "/groups/:id/boards/:board_id/lists/:list_id",
    on=group_in_path,
    may=policy.may_admin_group_boards,
    returns=None,
)
@routes.delete(
    "/projects/:id/boards/:board_id/lists/:list_id", on=project_in_path, may=policy.may_admin_boards, returns=None
)
def delete_board_list(call: Call, parent: ProjectOrGroup) -> None:
    """Delete a list of a board."""
    service.delete_list(call.db, _board_in_path(call, parent), path_number(call.path, "list_id"))
