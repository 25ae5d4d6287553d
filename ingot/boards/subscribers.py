"""What boards do when projects come and move, and when labels become one."""

from sqlalchemy import bindparam, or_, select, text

from ingot.boards.service import add_board
from ingot.boards.tables import board_lists, boards
from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.groups.namespaces.events import NamespaceMoved
from ingot.groups.namespaces.tables import namespace_tree
from ingot.labels.events import LabelsMerging
from ingot.labels.queries import label_by_id
from ingot.labels.service import usable_in
from ingot.labels.tables import labels
from ingot.projects.events import ProjectCreated, ProjectMoved
from ingot.projects.queries import project_by_id, projects_in, source_of
from ingot.projects.tables import Project

subscriptions = Subscriptions()
# A board that has a list for the label that stays keeps that one; the other goes with its label.
_MOVE_ON = text(
    "INSERT INTO board_lists (board_id, label_id, position, created_at) "
    "SELECT board_id, :into, position, created_at FROM board_lists WHERE label_id = :label "
    "ON CONFLICT (board_id, label_id) DO NOTHING"
)
_MOVE_ON_ONE = text(
    "INSERT INTO board_lists (board_id, label_id, position, created_at) "
    "SELECT board_id, :into, position, created_at FROM board_lists WHERE id = :list "
    "ON CONFLICT (board_id, label_id) DO NOTHING"
)
_AROUND = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
# Lists for labels of groups that are not around the board any more.
_STRAY = (
    select(board_lists.c.id, board_lists.c.label_id)
    .join(boards, boards.c.id == board_lists.c.board_id)
    .join(labels, labels.c.id == board_lists.c.label_id)
    .where(
        or_(boards.c.project_id == bindparam("project"), boards.c.group_id == bindparam("group")),
        labels.c.group_id.is_not(None),
        labels.c.group_id.not_in(_AROUND.scalar_subquery()),
    )
)


@subscriptions.on(ProjectCreated)
def add_first_board(db: Connection, event: ProjectCreated) -> None:
    """A project has a board from the start."""
    add_board(db, source_of(project_by_id(db, event.project_id)))


@subscriptions.on(LabelsMerging)
def follow_labels(db: Connection, event: LabelsMerging) -> None:
    """Lists go on with the label that stays."""
    for label_id in event.label_ids:
        db.run(_MOVE_ON, label=label_id, into=event.into_id)


@subscriptions.on(ProjectMoved)
def follow_project(db: Connection, event: ProjectMoved) -> None:
    """The boards of a project take along the lists that they had for labels of the groups around it."""
    _replace_strays(db, project_by_id(db, event.project_id))


@subscriptions.on(NamespaceMoved)
def follow_namespace(db: Connection, event: NamespaceMoved) -> None:
    """So do those of the projects of a group; its own let go of labels that are not to be had any more."""
    for list_id, _ in db.rows(_STRAY, project=0, group=event.namespace_id, namespace=event.namespace_id):
        db.delete(board_lists, list_id)
    for project in projects_in(db, event.namespace_id):
        _replace_strays(db, project)


def _replace_strays(db: Connection, project: Project) -> None:
    for list_id, label_id in db.rows(_STRAY, project=project.id, group=0, namespace=project.namespace_id):
        stays = usable_in(db, project, label_by_id(db, label_id))
        db.run(_MOVE_ON_ONE, list=list_id, into=stays.id)
        db.delete(board_lists, list_id)
