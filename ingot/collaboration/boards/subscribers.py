"""Subscribers that create a project's first board, and keep lists usable when labels and milestones change."""

from sqlalchemy import bindparam, or_, select, text

from ingot.collaboration.boards.ports import BoardDefaults
from ingot.collaboration.boards.service import add_board
from ingot.collaboration.boards.tables import board_lists, boards
from ingot.collaboration.labels.events import LabelsMerging
from ingot.collaboration.labels.queries import label_by_id
from ingot.collaboration.labels.service import find_or_copy_label
from ingot.collaboration.labels.tables import labels
from ingot.collaboration.milestones.events import MilestonesMerging
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.service import find_or_copy_milestone
from ingot.collaboration.milestones.tables import milestones
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.events import NamespaceMoved
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.events import ProjectCreated, ProjectMoved
from ingot.projects.projects.queries import existing_project, member_source, projects_in_namespace
from ingot.projects.projects.tables import Project

subscriptions = Subscriptions()
# A board that already has a list for the remaining label keeps it; the other list is deleted with its label.
_COPY_LISTS = text(
    "INSERT INTO board_lists (board_id, label_id, position, created_at, max_issue_count) "
    "SELECT board_id, :into, position, created_at, max_issue_count FROM board_lists WHERE label_id = :label "
    "ON CONFLICT (board_id, label_id) DO NOTHING"
)
_COPY_LIST = text(
    "INSERT INTO board_lists (board_id, label_id, position, created_at, max_issue_count) "
    "SELECT board_id, :into, position, created_at, max_issue_count FROM board_lists WHERE id = :list "
    "ON CONFLICT (board_id, label_id) DO NOTHING"
)
_COPY_MILESTONE_LISTS = text(
    "INSERT INTO board_lists (board_id, milestone_id, position, created_at, max_issue_count) "
    "SELECT board_id, :into, position, created_at, max_issue_count FROM board_lists WHERE milestone_id = :milestone "
    "ON CONFLICT (board_id, milestone_id) DO NOTHING"
)
_COPY_MILESTONE_LIST = text(
    "INSERT INTO board_lists (board_id, milestone_id, position, created_at, max_issue_count) "
    "SELECT board_id, :into, position, created_at, max_issue_count FROM board_lists WHERE id = :list "
    "ON CONFLICT (board_id, milestone_id) DO NOTHING"
)
_ANCESTORS = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
# Lists for labels of groups that are no longer ancestors of the board's project or group.
_STRAY_LISTS = (
    select(board_lists.c.id, board_lists.c.label_id)
    .join(boards, boards.c.id == board_lists.c.board_id)
    .join(labels, labels.c.id == board_lists.c.label_id)
    .where(
        or_(boards.c.project_id == bindparam("project"), boards.c.group_id == bindparam("group")),
        labels.c.group_id.is_not(None),
        labels.c.group_id.not_in(_ANCESTORS.scalar_subquery()),
    )
)
# The same for milestones of groups.
_STRAY_MILESTONE_LISTS = (
    select(board_lists.c.id, board_lists.c.milestone_id)
    .join(boards, boards.c.id == board_lists.c.board_id)
    .join(milestones, milestones.c.id == board_lists.c.milestone_id)
    .where(
        or_(boards.c.project_id == bindparam("project"), boards.c.group_id == bindparam("group")),
        milestones.c.group_id.is_not(None),
        milestones.c.group_id.not_in(_ANCESTORS.scalar_subquery()),
    )
)


@subscriptions.on(ProjectCreated)
def create_default_board(db: Connection, event: ProjectCreated) -> None:
    """Create the first board of a new project."""
    if db.ports[BoardDefaults].has_first_board:
        add_board(db, member_source(existing_project(db, event.project_id)))


@subscriptions.on(LabelsMerging)
def merge_label_lists(db: Connection, event: LabelsMerging) -> None:
    """Replace lists for labels about to be merged by lists for the remaining label."""
    for label_id in event.label_ids:
        db.run(_COPY_LISTS, label=label_id, into=event.into_id)


@subscriptions.on(MilestonesMerging)
def merge_milestone_lists(db: Connection, event: MilestonesMerging) -> None:
    """Replace lists for milestones about to be merged by lists for the remaining milestone."""
    for milestone_id in event.milestone_ids:
        db.run(_COPY_MILESTONE_LISTS, milestone=milestone_id, into=event.into_id)


@subscriptions.on(ProjectMoved)
def move_project_boards(db: Connection, event: ProjectMoved) -> None:
    """Replace lists for labels and milestones of former ancestor groups by lists for those that the project can use."""
    _replace_stray_lists(db, existing_project(db, event.project_id))


@subscriptions.on(NamespaceMoved)
def move_namespace_boards(db: Connection, event: NamespaceMoved) -> None:
    """Do the same for the projects of a moved group; delete such lists from the group's own boards."""
    for stray in (_STRAY_LISTS, _STRAY_MILESTONE_LISTS):
        for list_id, _ in db.rows(stray, project=0, group=event.namespace_id, namespace=event.namespace_id):
            db.delete(board_lists, list_id)
    for project in projects_in_namespace(db, event.namespace_id):
        _replace_stray_lists(db, project)


def _replace_stray_lists(db: Connection, project: Project) -> None:
    scope = {"project": project.id, "group": 0, "namespace": project.namespace_id}
    for list_id, label_id in db.rows(_STRAY_LISTS, **scope):
        replacement = find_or_copy_label(db, project, label_by_id(db, label_id))
        db.run(_COPY_LIST, list=list_id, into=replacement.id)
        db.delete(board_lists, list_id)
    stray = dict(db.rows(_STRAY_MILESTONE_LISTS, **scope))
    held = milestones_by_ids(db, sorted(set(stray.values()))) if stray else {}
    for list_id, milestone_id in stray.items():
        into = find_or_copy_milestone(db, project, held[milestone_id])
        db.run(_COPY_MILESTONE_LIST, list=list_id, into=into.id)
        db.delete(board_lists, list_id)
