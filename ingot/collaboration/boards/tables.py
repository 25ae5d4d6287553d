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

# The open list and the closed list of a board are implicit. Exactly one of label, assignee and milestone is set.
board_lists = Table(
    "board_lists",
    metadata,
    row_id(),
    reference("board_id", "boards.id"),
    reference("label_id", "labels.id", nullable=True),
    # Ascending, with gaps left by lists whose labels, users or milestones were deleted.
    number("position"),
    text("created_at"),
    reference("assignee_id", "users.id", nullable=True, index=True),
    reference("milestone_id", "milestones.id", nullable=True, index=True),
    # No limit if 0.
    number("max_issue_count", server_default="0"),
    UniqueConstraint("board_id", "label_id"),
    UniqueConstraint("board_id", "assignee_id"),
    UniqueConstraint("board_id", "milestone_id"),
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
    label_id: int | None
    position: int
    created_at: Timestamp
    assignee_id: int | None
    milestone_id: int | None
    max_issue_count: int
