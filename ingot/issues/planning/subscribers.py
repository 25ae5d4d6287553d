"""What becomes of issues when milestones become one, or stay behind in another group."""

from sqlalchemy import bindparam, select, update

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.events.bus import Subscriptions
from ingot.groups.namespaces.events import NamespaceMoved
from ingot.groups.namespaces.tables import namespace_tree
from ingot.issues.tables import issues
from ingot.milestones.events import MilestonesMerging
from ingot.milestones.queries import milestones_by_ids
from ingot.milestones.service import usable_in
from ingot.milestones.tables import milestones
from ingot.projects.events import ProjectMoved
from ingot.projects.queries import project_by_id, projects_in
from ingot.projects.tables import Project

subscriptions = Subscriptions()
_MOVE_ON = update(issues).where(any_of(issues.c.milestone_id, "merged")).values(milestone_id=bindparam("into"))
_AROUND = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))
# Deleted ones count too: their rows stay, and what they point at may be of a group that is hidden from now on.
_STRAY = (
    select(milestones.c.id)
    .where(
        milestones.c.group_id.is_not(None),
        milestones.c.group_id.not_in(_AROUND.scalar_subquery()),
        milestones.c.id.in_(
            select(issues.c.milestone_id)
            .where(issues.c.project_id == bindparam("project"), issues.c.milestone_id.is_not(None))
            .scalar_subquery()
        ),
    )
    .order_by(milestones.c.id)
)
_REPLACE = (
    update(issues)
    .where(issues.c.project_id == bindparam("project"), issues.c.milestone_id == bindparam("stray"))
    .values(milestone_id=bindparam("into"))
)


@subscriptions.on(MilestonesMerging)
def follow_milestones(db: Connection, event: MilestonesMerging) -> None:
    """Issues go on in the milestone that stays."""
    db.run(_MOVE_ON, merged=event.milestone_ids, into=event.into_id)


@subscriptions.on(ProjectMoved)
def follow_project(db: Connection, event: ProjectMoved) -> None:
    """A project takes along the milestones that its issues have of the groups around it."""
    _replace_strays(db, project_by_id(db, event.project_id))


@subscriptions.on(NamespaceMoved)
def follow_namespace(db: Connection, event: NamespaceMoved) -> None:
    """So do the projects of a group."""
    for project in projects_in(db, event.namespace_id):
        _replace_strays(db, project)


def _replace_strays(db: Connection, project: Project) -> None:
    found = [row[0] for row in db.rows(_STRAY, project=project.id, namespace=project.namespace_id)]
    for stray in milestones_by_ids(db, found).values() if found else ():
        db.run(_REPLACE, project=project.id, stray=stray.id, into=usable_in(db, project, stray).id)
