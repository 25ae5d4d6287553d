"""Boards over the API, those of projects and those of groups."""

from ingot.api.params import Missing, given, path_number
from ingot.api.routes import Call, Routes
from ingot.boards import commands as commands  # Issues know it from here on.
from ingot.boards import policy, queries, service
from ingot.boards.params import CreateBoard, CreateList, EditBoard, MoveList
from ingot.boards.tables import Board
from ingot.boards.views import BoardListView, BoardView, board_group_view, board_views, list_view
from ingot.db.paging import Listing, Page, cut_page
from ingot.groups.api import group_in_path
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.groups.queries import source_of as source_of_group
from ingot.projects.api import project_in_path
from ingot.projects.queries import source_of as source_of_project
from ingot.projects.tables import Project
from ingot.projects.views import addresses_of, simple_view

routes = Routes("boards")


def _of_project(call: Call, project: Project, found: list[Board]) -> list[BoardView]:
    return board_views(call.db, found, simple_view(project, addresses_of(call.origin, call.settings)), None)


def _of_group(call: Call, group: Namespace, found: list[Board]) -> list[BoardView]:
    return board_views(call.db, found, None, board_group_view(group, call.origin.base))


def _board(call: Call, source: Source) -> Board:
    return queries.find_board(call.db, source, path_number(call.path, "board_id"))


def _edited(call: Call, source: Source, params: EditBoard) -> Board:
    if not given(params):
        raise Missing("name")
    return service.edit_board(call.db, source, _board(call, source), params)


def _lists(call: Call, source: Source, page: Page) -> Listing[BoardListView]:
    board = _board(call, source)
    standing = queries.lists_of(call.db, [board.id]).get(board.id, [])
    return cut_page([list_view(each) for each in standing], page)


def _list(call: Call, source: Source) -> BoardListView:
    return list_view(queries.find_list(call.db, _board(call, source), path_number(call.path, "list_id")))


def _create_list(call: Call, source: Source, params: CreateList) -> BoardListView:
    return list_view(service.create_list(call.db, source, _board(call, source), params.label_id))


def _move_list(call: Call, source: Source, params: MoveList) -> BoardListView:
    list_id = path_number(call.path, "list_id")
    return list_view(service.move_list(call.db, _board(call, source), list_id, params.position))


def _delete_list(call: Call, source: Source) -> None:
    service.delete_list(call.db, _board(call, source), path_number(call.path, "list_id"))


@routes.get("/projects/:id/boards", on=project_in_path, may=policy.may_read_boards, returns=list[BoardView])
def list_project_boards(call: Call, project: Project, page: Page) -> Listing[BoardView]:
    """List the boards of a project."""
    found = queries.list_boards(call.db, source_of_project(project), page)
    return found.of(_of_project(call, project, found.items))


@routes.get("/projects/:id/boards/:board_id", on=project_in_path, may=policy.may_read_boards, returns=BoardView)
def get_project_board(call: Call, project: Project) -> BoardView:
    """Get a board of a project."""
    return _of_project(call, project, [_board(call, source_of_project(project))])[0]


@routes.post("/projects/:id/boards", on=project_in_path, may=policy.may_admin_boards, returns=BoardView)
def create_project_board(call: Call, project: Project, params: CreateBoard) -> BoardView:
    """Create a board of a project."""
    board = service.create_board(call.db, source_of_project(project), params.name)
    return _of_project(call, project, [board])[0]


@routes.put("/projects/:id/boards/:board_id", on=project_in_path, may=policy.may_admin_boards, returns=BoardView)
def edit_project_board(call: Call, project: Project, params: EditBoard) -> BoardView:
    """Edit a board of a project."""
    return _of_project(call, project, [_edited(call, source_of_project(project), params)])[0]


@routes.delete("/projects/:id/boards/:board_id", on=project_in_path, may=policy.may_admin_boards, returns=None)
def delete_project_board(call: Call, project: Project) -> None:
    """Delete a board of a project, unless it is the last one."""
    service.delete_board(call.db, source_of_project(project), path_number(call.path, "board_id"))


@routes.get(
    "/projects/:id/boards/:board_id/lists",
    on=project_in_path,
    may=policy.may_read_boards,
    returns=list[BoardListView],
)
def list_project_board_lists(call: Call, project: Project, page: Page) -> Listing[BoardListView]:
    """List the lists of a board, without those of what is open and of what is closed."""
    return _lists(call, source_of_project(project), page)


@routes.get(
    "/projects/:id/boards/:board_id/lists/:list_id",
    on=project_in_path,
    may=policy.may_read_boards,
    returns=BoardListView,
)
def get_project_board_list(call: Call, project: Project) -> BoardListView:
    """Get a list of a board."""
    return _list(call, source_of_project(project))


@routes.post(
    "/projects/:id/boards/:board_id/lists", on=project_in_path, may=policy.may_admin_boards, returns=BoardListView
)
def create_project_board_list(call: Call, project: Project, params: CreateList) -> BoardListView:
    """Create a list of a board, for a label."""
    return _create_list(call, source_of_project(project), params)


@routes.put(
    "/projects/:id/boards/:board_id/lists/:list_id",
    on=project_in_path,
    may=policy.may_admin_boards,
    returns=BoardListView,
)
def move_project_board_list(call: Call, project: Project, params: MoveList) -> BoardListView:
    """Move a list of a board to another position."""
    return _move_list(call, source_of_project(project), params)


@routes.delete(
    "/projects/:id/boards/:board_id/lists/:list_id", on=project_in_path, may=policy.may_admin_boards, returns=None
)
def delete_project_board_list(call: Call, project: Project) -> None:
    """Delete a list of a board."""
    _delete_list(call, source_of_project(project))


@routes.get("/groups/:id/boards", on=group_in_path, may=may_see_group, returns=list[BoardView])
def list_group_boards(call: Call, group: Namespace, page: Page) -> Listing[BoardView]:
    """List the boards of a group."""
    found = queries.list_boards(call.db, source_of_group(group), page)
    return found.of(_of_group(call, group, found.items))


@routes.get("/groups/:id/boards/:board_id", on=group_in_path, may=may_see_group, returns=BoardView)
def get_group_board(call: Call, group: Namespace) -> BoardView:
    """Get a board of a group."""
    return _of_group(call, group, [_board(call, source_of_group(group))])[0]


@routes.post("/groups/:id/boards", on=group_in_path, may=policy.may_admin_group_boards, returns=BoardView)
def create_group_board(call: Call, group: Namespace, params: CreateBoard) -> BoardView:
    """Create a board of a group."""
    return _of_group(call, group, [service.create_board(call.db, source_of_group(group), params.name)])[0]


@routes.put("/groups/:id/boards/:board_id", on=group_in_path, may=policy.may_admin_group_boards, returns=BoardView)
def edit_group_board(call: Call, group: Namespace, params: EditBoard) -> BoardView:
    """Edit a board of a group."""
    return _of_group(call, group, [_edited(call, source_of_group(group), params)])[0]


@routes.delete("/groups/:id/boards/:board_id", on=group_in_path, may=policy.may_admin_group_boards, returns=None)
def delete_group_board(call: Call, group: Namespace) -> None:
    """Delete a board of a group, unless it is the last one."""
    service.delete_board(call.db, source_of_group(group), path_number(call.path, "board_id"))


@routes.get("/groups/:id/boards/:board_id/lists", on=group_in_path, may=may_see_group, returns=list[BoardListView])
def list_group_board_lists(call: Call, group: Namespace, page: Page) -> Listing[BoardListView]:
    """List the lists of a group's board, without those of what is open and of what is closed."""
    return _lists(call, source_of_group(group), page)


@routes.get("/groups/:id/boards/:board_id/lists/:list_id", on=group_in_path, may=may_see_group, returns=BoardListView)
def get_group_board_list(call: Call, group: Namespace) -> BoardListView:
    """Get a list of a group's board."""
    return _list(call, source_of_group(group))


@routes.post(
    "/groups/:id/boards/:board_id/lists",
    on=group_in_path,
    may=policy.may_admin_group_boards,
    returns=BoardListView,
)
def create_group_board_list(call: Call, group: Namespace, params: CreateList) -> BoardListView:
    """Create a list of a group's board, for a label."""
    return _create_list(call, source_of_group(group), params)


@routes.put(
    "/groups/:id/boards/:board_id/lists/:list_id",
    on=group_in_path,
    may=policy.may_admin_group_boards,
    returns=BoardListView,
)
def move_group_board_list(call: Call, group: Namespace, params: MoveList) -> BoardListView:
    """Move a list of a group's board to another position."""
    return _move_list(call, source_of_group(group), params)


@routes.delete(
    "/groups/:id/boards/:board_id/lists/:list_id",
    on=group_in_path,
    may=policy.may_admin_group_boards,
    returns=None,
)
def delete_group_board_list(call: Call, group: Namespace) -> None:
    """Delete a list of a group's board."""
    _delete_list(call, source_of_group(group))
