"""State changes of boards and their lists."""

from ingot.collaboration.boards.params import EditBoard
from ingot.collaboration.boards.queries import (
    BoardListEntry,
    board_or_none,
    count_boards,
    find_board,
    find_list,
    list_or_none,
    lists_by_board,
)
from ingot.collaboration.boards.tables import Board, board_lists, boards
from ingot.collaboration.labels.queries import label_or_none
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.members.queries import MemberSource

DEFAULT_NAME = "Development"
MAX_NAME_LENGTH = 255
MAX_BOARDS = 100
MAX_LISTS = 100


def create_board(db: Connection, source: MemberSource, name: str) -> Board:
    """Create a board without lists."""
    _validate(name)
    _lock_boards(db, source)
    if count_boards(db, source) >= MAX_BOARDS:
        raise Invalid(f"There are {MAX_BOARDS} boards already")
    return find_board(db, source, add_board(db, source, name.strip()))


def add_board(db: Connection, source: MemberSource, name: str = DEFAULT_NAME) -> int:
    """Insert the row of a board and return its id."""
    return db.insert(
        boards,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        name=name,
        hide_backlog_list=False,
        hide_closed_list=False,
        created_at=db.now,
        updated_at=db.now,
    )


def edit_board(db: Connection, source: MemberSource, board: Board, params: EditBoard) -> Board:
    """Update the given fields of a board."""
    columns = given_fields(params)
    if "name" in columns:
        _validate(columns["name"])
        columns["name"] = columns["name"].strip()
    db.update(boards, board.id, **columns, updated_at=db.now)
    return find_board(db, source, board.id)


def delete_board(db: Connection, source: MemberSource, board_id: int) -> None:
    """Delete a board with its lists; do nothing if it does not exist."""
    board = board_or_none(db, source, board_id)
    if board is not None:
        db.delete(boards, board.id)


def create_list(db: Connection, source: MemberSource, board: Board, label_id: int) -> BoardListEntry:
    """Append a list to a board for a label of the project, the group or its ancestors."""
    _lock_lists(db, board)
    label = label_or_none(db, source, str(label_id))
    if label is None or label.id != label_id:
        raise Invalid(label_id=["is invalid"])
    entries = lists_by_board(db, [board.id]).get(board.id, [])
    if any(entry.label.id == label.id for entry in entries):
        raise Invalid(label_id=["has already been taken"])
    if len(entries) >= MAX_LISTS:
        raise Invalid(f"There are {MAX_LISTS} lists already")
    position = entries[-1].list.position + 1 if entries else 0
    list_id = db.insert(board_lists, board_id=board.id, label_id=label.id, position=position, created_at=db.now)
    return find_list(db, board, list_id)


def move_list(db: Connection, board: Board, list_id: int, position: int) -> BoardListEntry:
    """Move a list to another position; the lists between the two positions shift by one."""
    _lock_lists(db, board)
    moved = find_list(db, board, list_id)
    order = lists_by_board(db, [board.id])[board.id]
    if not 0 <= position < len(order):
        raise Invalid(position=["is invalid"])
    order.insert(position, order.pop(moved.position))
    for index, entry in enumerate(order):
        if entry.list.position != index:
            db.update(board_lists, entry.list.id, position=index)
    return find_list(db, board, list_id)


def delete_list(db: Connection, board: Board, list_id: int) -> None:
    """Delete a list; its issues keep their labels."""
    entry = list_or_none(db, board, list_id)
    if entry is not None:
        db.delete(board_lists, entry.list.id)


def _lock_boards(db: Connection, source: MemberSource) -> None:
    """Lock out concurrent creation and deletion of boards of this project or group until the transaction ends."""
    db.lock(f"boards of {source.kind} {source.id}")


def _lock_lists(db: Connection, board: Board) -> None:
    """Lock out concurrent changes of the order of these lists until the transaction ends."""
    db.lock(f"lists of board {board.id}")


def _validate(name: str) -> None:
    if not name.strip():
        raise Invalid(name=["can't be blank"])
    if len(name.strip()) > MAX_NAME_LENGTH:
        raise Invalid(name=[too_long_message(MAX_NAME_LENGTH)])
