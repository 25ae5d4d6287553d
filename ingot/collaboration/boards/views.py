"""Response structs of boards."""

from collections.abc import Sequence

from ingot.collaboration.boards.queries import BoardListEntry, lists_by_board
from ingot.collaboration.boards.tables import Board
from ingot.collaboration.labels.views import LabelBrief, label_brief
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.views import SimpleProjectView


class BoardListView(View):
    """A label list of a board; the open and closed lists are never included."""

    id: int
    label: LabelBrief
    position: int


class BoardGroupView(View):
    """The group that a board belongs to."""

    id: int
    name: str
    web_url: str


class BoardView(View):
    """A board."""

    id: int
    name: str
    hide_backlog_list: bool
    hide_closed_list: bool
    project: SimpleProjectView | None
    group: BoardGroupView | None
    lists: list[BoardListView]


def board_group_view(group: Namespace, base: str) -> BoardGroupView:
    """Build the view of the group that a board belongs to."""
    return BoardGroupView(group.id, group.name, f"{base}/groups/{group.full_path}")


def list_view(entry: BoardListEntry) -> BoardListView:
    """Build the view of a list."""
    return BoardListView(entry.list.id, label_brief(entry.label), entry.position)


def board_views(
    db: Connection, boards: Sequence[Board], project: SimpleProjectView | None, group: BoardGroupView | None
) -> list[BoardView]:
    """Build the views of a page of boards, with one statement for all their lists."""
    lists = lists_by_board(db, [board.id for board in boards])
    return [
        BoardView(
            id=board.id,
            name=board.name,
            hide_backlog_list=board.hide_backlog_list,
            hide_closed_list=board.hide_closed_list,
            project=project,
            group=group,
            lists=[list_view(entry) for entry in lists.get(board.id, [])],
        )
        for board in boards
    ]
