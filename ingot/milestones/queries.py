"""How milestones are found."""

from collections.abc import Sequence

from sqlalchemy import bindparam, or_, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.groups.namespaces.tables import namespace_tree
from ingot.milestones.tables import Milestone, milestones
from ingot.projects.tables import Project

_AROUND = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
USABLE = select(milestones).where(
    or_(milestones.c.project_id == bindparam("project"), milestones.c.group_id.in_(_AROUND.scalar_subquery()))
)
_USABLE_BY_ID = USABLE.where(milestones.c.id == bindparam("milestone"))
_USABLE_BY_TITLE = USABLE.where(milestones.c.title == bindparam("title")).order_by(milestones.c.project_id.is_(None))
_BY_IDS = select(milestones).where(any_of(milestones.c.id, "ids"))


def usable_milestone(db: Connection, project: Project, milestone_id: int) -> Milestone | None:
    """A milestone that things in a project may have: its own, or of a group around it."""
    held = {"project": project.id, "namespace": project.namespace_id}
    return db.first(Milestone, _USABLE_BY_ID, milestone=milestone_id, **held)


def usable_by_title(db: Connection, project: Project, title: str) -> Milestone | None:
    """The same by title; the project's own counts first."""
    return db.first(Milestone, _USABLE_BY_TITLE, title=title, project=project.id, namespace=project.namespace_id)


def milestones_by_ids(db: Connection, ids: Sequence[int]) -> dict[int, Milestone]:
    """Milestones by number, whoever asks; one statement for all."""
    return {milestone.id: milestone for milestone in db.all(Milestone, _BY_IDS, ids=list(ids))}
