"""Response structs of boards."""

from collections.abc import Sequence
from itertools import chain

from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.collaboration.boards.queries import BoardListEntry, lists_by_board
from ingot.collaboration.boards.tables import Board
from ingot.collaboration.labels.views import LabelBrief, label_brief
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.views import SimpleProjectView


class BoardListView(View):
    """A list of a board, for a label, an assignee or a milestone; the open and closed lists are never included."""

    id: int
    position: int
    max_issue_count: int
    max_issue_weight: int = 0
    limit_metric: str | None = None
    label: LabelBrief | UnsetType = UNSET
    assignee: UserBrief | UnsetType = UNSET
    milestone: MilestoneView | UnsetType = UNSET


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


def list_views(db: Connection, entries: Sequence[BoardListEntry], base: str) -> list[BoardListView]:
    """Build the views of lists, with one statement each for all their assignees and milestones."""
    people = user_briefs_by_ids(db, [entry.list.assignee_id for entry in entries if entry.list.assignee_id], base)
    milestone_ids = [entry.list.milestone_id for entry in entries if entry.list.milestone_id]
    milestones = milestones_by_ids(db, milestone_ids) if milestone_ids else {}
    return [
        BoardListView(
            id=entry.list.id,
            position=entry.position,
            max_issue_count=entry.list.max_issue_count,
            limit_metric="issue_count" if entry.list.max_issue_count else None,
            label=label_brief(entry.label) if entry.label else UNSET,
            assignee=people[entry.list.assignee_id] if entry.list.assignee_id else UNSET,
            milestone=milestone_view(milestones[entry.list.milestone_id], db.today, base)
            if entry.list.milestone_id
            else UNSET,
        )
        for entry in entries
    ]


def board_views(
    db: Connection,
    boards: Sequence[Board],
    base: str,
    *,
    project: SimpleProjectView | None = None,
    group: BoardGroupView | None = None,
) -> list[BoardView]:
    """Build the views of a page of boards, with a fixed number of statements for all their lists."""
    entries = lists_by_board(db, [board.id for board in boards])
    views = {view.id: view for view in list_views(db, list(chain.from_iterable(entries.values())), base)}
    return [
        BoardView(
            id=board.id,
            name=board.name,
            hide_backlog_list=board.hide_backlog_list,
            hide_closed_list=board.hide_closed_list,
            project=project,
            group=group,
            lists=[views[entry.list.id] for entry in entries.get(board.id, [])],
        )
        for board in boards
    ]
