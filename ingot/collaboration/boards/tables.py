"""Tables of boards and their lists."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# Exactly one of project and group is set.
boards = Table(
    "boards",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    text("name"),
    flag("hide_backlog_list"),
    flag("hide_closed_list"),
    text("created_at"),
    text("updated_at"),
    sqlite_autoincrement=True,
)

# Only label lists have rows; the open list and the closed list of a board are implicit.
board_lists = Table(
    "board_lists",
    metadata,
    row_id(),
    reference("board_id", "boards.id"),
    reference("label_id", "labels.id"),
    # Ascending, with gaps left by lists whose labels were deleted.
    number("position"),
    text("created_at"),
    UniqueConstraint("board_id", "label_id"),
    Index("ix_board_lists_label_id", "label_id"),
    sqlite_autoincrement=True,
)


class Board(Record, frozen=True):
    """A board."""

    id: int
    project_id: int | None
    group_id: int | None
    name: str
    hide_backlog_list: bool
    hide_closed_list: bool
    created_at: Timestamp
    updated_at: Timestamp


class BoardList(Record, frozen=True):
    """A list of a board."""

    id: int
    board_id: int
    label_id: int
    position: int
    created_at: Timestamp
