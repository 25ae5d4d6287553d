"""State changes of boards and their lists."""

from typing import Any

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.boards.params import CreateList, EditBoard, EditList
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
from ingot.collaboration.milestones.queries import usable_milestone, usable_milestone_in_group
from ingot.collaboration.planning.service import assignable_users
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.groups.queries import is_active_member
from ingot.projects.members.queries import MemberSource
from ingot.projects.projects.parents import ProjectOrGroup, member_source
from ingot.projects.projects.tables import Project

DEFAULT_NAME = "Development"
MAX_NAME_LENGTH = 255
MAX_BOARDS = 100
MAX_LISTS = 100
MAX_ISSUE_COUNT = 1_000_000


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


def create_list(db: Connection, parent: ProjectOrGroup, board: Board, params: CreateList) -> BoardListEntry:
    """Append a list to a board for a label, an assignee or a milestone that the project or group can use."""
    given = {name: getattr(params, name) for name in _SUBJECTS if getattr(params, name) is not None}
    if not given:
        raise Invalid('400 (Bad request) "label_id" not given')
    if len(given) > 1:
        raise Invalid("label_id, assignee_id and milestone_id are mutually exclusive")
    ((column, subject_id),) = given.items()
    _validate_limit(params.max_issue_count)
    _lock_lists(db, board)
    if not _SUBJECTS[column](db, parent, subject_id):
        raise Invalid(**{column: ["is invalid"]})
    entries = lists_by_board(db, [board.id]).get(board.id, [])
    if any(getattr(entry.list, column) == subject_id for entry in entries):
        raise Invalid(**{column: ["has already been taken"]})
    if len(entries) >= MAX_LISTS:
        raise Invalid(f"There are {MAX_LISTS} lists already")
    values: dict[str, Any] = {
        column: subject_id,
        "position": entries[-1].list.position + 1 if entries else 0,
        "max_issue_count": params.max_issue_count,
    }
    return find_list(db, board, db.insert(board_lists, board_id=board.id, created_at=db.now, **values))


def _may_list_label(db: Connection, parent: ProjectOrGroup, label_id: int) -> bool:
    label = label_or_none(db, member_source(parent), str(label_id))
    return label is not None and label.id == label_id


def _may_list_assignee(db: Connection, parent: ProjectOrGroup, user_id: int) -> bool:
    """Return whether issues can be assigned to a user: one who sees the project, or a member of the group."""
    if isinstance(parent, Project):
        return bool(assignable_users(db, parent, [user_id]))
    user = users_by_ids(db, [user_id]).get(user_id)
    return user is not None and is_active_member(db, user, parent)


def _may_list_milestone(db: Connection, parent: ProjectOrGroup, milestone_id: int) -> bool:
    if isinstance(parent, Project):
        return usable_milestone(db, parent, milestone_id) is not None
    return usable_milestone_in_group(db, parent.id, milestone_id) is not None


_SUBJECTS = {"label_id": _may_list_label, "assignee_id": _may_list_assignee, "milestone_id": _may_list_milestone}


def edit_list(db: Connection, board: Board, list_id: int, params: EditList) -> BoardListEntry:
    """Move a list to another position or change its limit; 0 removes the limit."""
    if params.position is None and params.max_issue_count is None:
        raise Invalid('400 (Bad request) "position" not given')
    if params.max_issue_count is not None:
        _validate_limit(params.max_issue_count)
        entry = find_list(db, board, list_id)
        db.update(board_lists, entry.list.id, max_issue_count=params.max_issue_count)
    if params.position is not None:
        _move_list(db, board, list_id, params.position)
    return find_list(db, board, list_id)


def _validate_limit(limit: int) -> None:
    if not 0 <= limit <= MAX_ISSUE_COUNT:
        raise Invalid(max_issue_count=["is invalid"])


def _move_list(db: Connection, board: Board, list_id: int, position: int) -> None:
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
