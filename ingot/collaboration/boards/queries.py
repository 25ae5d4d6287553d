"""Queries of boards and their lists."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from ingot.collaboration.boards.tables import Board, BoardList, board_lists, boards
from ingot.collaboration.labels.tables import Label, labels
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.members.queries import MemberSource
from ingot.projects.projects.queries import member_source
from ingot.projects.projects.tables import Project

_BELONGS_TO_SOURCE = {
    "project": boards.c.project_id == bindparam("source"),
    "group": boards.c.group_id == bindparam("source"),
}
_BOARDS = {
    kind: list_query(select(boards).where(own), boards.c.id, boards.c.id.asc())
    for kind, own in _BELONGS_TO_SOURCE.items()
}
_BY_ID = {
    kind: select(boards).where(own, boards.c.id == bindparam("board")) for kind, own in _BELONGS_TO_SOURCE.items()
}
_COUNT = {kind: select(func.count()).where(own) for kind, own in _BELONGS_TO_SOURCE.items()}
_LISTS = (
    select(*board_lists.c, *labels.c)
    .outerjoin(labels, labels.c.id == board_lists.c.label_id)
    .where(in_list(board_lists.c.board_id, "boards"))
    .order_by(board_lists.c.board_id, board_lists.c.position, board_lists.c.id)
)
_COLUMNS = len(board_lists.c)


class BoardListEntry(NamedTuple):
    """A list with its label, if it has one, and its position on the board, counted from 0."""

    list: BoardList
    label: Label | None
    position: int


def list_boards(db: Connection, source: MemberSource, page: Page) -> Listing[Board]:
    """Return a page of the boards of a project or group."""
    return fetch_page(db, Board, _BOARDS[source.kind], page, source=source.id)


def count_boards(db: Connection, source: MemberSource) -> int:
    """Count the boards of a project or group."""
    count: int = db.value(_COUNT[source.kind], source=source.id)
    return count


def board_or_none(db: Connection, source: MemberSource, board_id: int) -> Board | None:
    """Return a board of exactly this project or group, or None."""
    return db.first(Board, _BY_ID[source.kind], source=source.id, board=board_id)


def find_board(db: Connection, source: MemberSource, board_id: int) -> Board:
    """Return a board of exactly this project or group; raise NotFound if there is none."""
    board = board_or_none(db, source, board_id)
    if board is None:
        raise NotFound("Board")
    return board


def lists_by_board(db: Connection, board_ids: Sequence[int]) -> dict[int, list[BoardListEntry]]:
    """Map board ids to their lists in order, with one statement for all boards."""
    entries: defaultdict[int, list[BoardListEntry]] = defaultdict(list)
    for row in db.rows(_LISTS, boards=list(board_ids)):
        board_list = BoardList(*row[:_COLUMNS])
        board_entries = entries[board_list.board_id]
        label = Label(*row[_COLUMNS:]) if board_list.label_id is not None else None
        board_entries.append(BoardListEntry(board_list, label, len(board_entries)))
    return entries


def labels_of_only_board(db: Connection, project: Project) -> list[Label]:
    """Return the labels of the lists of a project's board; none unless the project has exactly one board."""
    boards = list_boards(db, member_source(project), Page(size=2)).items
    if len(boards) != 1:
        return []
    entries = lists_by_board(db, [boards[0].id]).get(boards[0].id, [])
    return [entry.label for entry in entries if entry.label is not None]


def list_or_none(db: Connection, board: Board, list_id: int) -> BoardListEntry | None:
    """Return a list of a board by its id, or None."""
    return next((entry for entry in lists_by_board(db, [board.id]).get(board.id, []) if entry.list.id == list_id), None)


def find_list(db: Connection, board: Board, list_id: int) -> BoardListEntry:
    """Return a list of a board by its id; raise NotFound if there is none."""
    entry = list_or_none(db, board, list_id)
    if entry is None:
        raise NotFound("List")
    return entry
