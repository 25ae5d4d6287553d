"""What changes boards."""

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
from ingot.errors import Invalid, too_long_message
from ingot.projects.members.queries import MemberSource

DEFAULT_NAME = "Development"
MAX_NAME_LENGTH = 255
MAX_BOARDS = 100
MAX_LISTS = 100


def create_board(db: Connection, source: MemberSource, name: str) -> Board:
    """Add a board without lists."""
    _validate(name)
    _lock_boards(db, source)
    if count_boards(db, source) >= MAX_BOARDS:
        raise Invalid(f"There are {MAX_BOARDS} boards already")
    return find_board(db, source, add_board(db, source, name.strip()))


def add_board(db: Connection, source: MemberSource, name: str = DEFAULT_NAME) -> int:
    """Add the row of a board."""
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
    """Change what was sent."""
    columns = given_fields(params)
    if "name" in columns:
        _validate(columns["name"])
        columns["name"] = columns["name"].strip()
    db.update(boards, board.id, **columns, updated_at=db.now)
    return find_board(db, source, board.id)


def delete_board(db: Connection, source: MemberSource, board_id: int) -> None:
    """Remove a board with its lists; the last one stays."""
    _lock_boards(db, source)
    board = board_or_none(db, source, board_id)
    if board is None:
        return
    if count_boards(db, source) == 1:
        raise Invalid("The last board cannot be deleted")
    db.delete(boards, board.id)


def create_list(db: Connection, source: MemberSource, board: Board, label_id: int) -> BoardListEntry:
    """Add a list at the end of a board, for a label that can be used there."""
    _lock_lists(db, board)
    label = label_or_none(db, source, str(label_id))
    if label is None or label.id != label_id:
        raise Invalid(label_id=["is invalid"])
    standing = lists_by_board(db, [board.id]).get(board.id, [])
    if any(each.label.id == label.id for each in standing):
        raise Invalid(label_id=["has already been taken"])
    if len(standing) >= MAX_LISTS:
        raise Invalid(f"There are {MAX_LISTS} lists already")
    position = standing[-1].list.position + 1 if standing else 0
    added = db.insert(board_lists, board_id=board.id, label_id=label.id, position=position, created_at=db.now)
    return find_list(db, board, added)


def move_list(db: Connection, board: Board, list_id: int, position: int) -> BoardListEntry:
    """Let a list stand somewhere else; the others move up or down."""
    _lock_lists(db, board)
    moved = find_list(db, board, list_id)
    order = lists_by_board(db, [board.id])[board.id]
    if not 0 <= position < len(order):
        raise Invalid(position=["is invalid"])
    order.insert(position, order.pop(moved.position))
    for place, each in enumerate(order):
        if each.list.position != place:
            db.update(board_lists, each.list.id, position=place)
    return find_list(db, board, list_id)


def delete_list(db: Connection, board: Board, list_id: int) -> None:
    """Remove a list; the issues in it stay as they are."""
    held = list_or_none(db, board, list_id)
    if held is not None:
        db.delete(board_lists, held.list.id)


def _lock_boards(db: Connection, source: MemberSource) -> None:
    """Let nobody else add or remove boards here before this is done."""
    db.lock(f"boards of {source.kind} {source.id}")


def _lock_lists(db: Connection, board: Board) -> None:
    """Let nobody else change the order of these lists before this is done."""
    db.lock(f"lists of board {board.id}")


def _validate(name: str) -> None:
    if not name.strip():
        raise Invalid(name=["can't be blank"])
    if len(name.strip()) > MAX_NAME_LENGTH:
        raise Invalid(name=[too_long_message(MAX_NAME_LENGTH)])
