"""What becomes of what is planned when milestones become one, or stay behind in another group."""

from sqlalchemy import ColumnElement, Table, bindparam, select, update

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

_AROUND = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))


class Planned:
    """Lets the rows of a table, each of which may have a milestone, follow what becomes of milestones."""

    def __init__(self, rows: Table, project_id: ColumnElement[int]) -> None:
        self.subscriptions = Subscriptions()
        self.subscriptions.on(MilestonesMerging)(self.follow_milestones)
        self.subscriptions.on(ProjectMoved)(self.follow_project)
        self.subscriptions.on(NamespaceMoved)(self.follow_namespace)
        here = project_id == bindparam("project")
        self._move_on = update(rows).where(any_of(rows.c.milestone_id, "merged")).values(milestone_id=bindparam("into"))
        # Deleted ones count too: their rows stay, and what they point at may be of a group that is hidden from now on.
        used = select(rows.c.milestone_id).where(here, rows.c.milestone_id.is_not(None))
        self._stray = (
            select(milestones.c.id)
            .where(
                milestones.c.group_id.is_not(None),
                milestones.c.group_id.not_in(_AROUND.scalar_subquery()),
                milestones.c.id.in_(used.scalar_subquery()),
            )
            .order_by(milestones.c.id)
        )
        self._replace = (
            update(rows).where(here, rows.c.milestone_id == bindparam("stray")).values(milestone_id=bindparam("into"))
        )

    def follow_milestones(self, db: Connection, event: MilestonesMerging) -> None:
        """What has one of them goes on in the milestone that stays."""
        db.run(self._move_on, merged=event.milestone_ids, into=event.into_id)

    def follow_project(self, db: Connection, event: ProjectMoved) -> None:
        """A project takes along the milestones that are used in it of the groups around it."""
        self._replace_strays(db, project_by_id(db, event.project_id))

    def follow_namespace(self, db: Connection, event: NamespaceMoved) -> None:
        """So do the projects of a group."""
        for project in projects_in(db, event.namespace_id):
            self._replace_strays(db, project)

    def _replace_strays(self, db: Connection, project: Project) -> None:
        found = [row[0] for row in db.rows(self._stray, project=project.id, namespace=project.namespace_id)]
        for stray in milestones_by_ids(db, found).values() if found else ():
            db.run(self._replace, project=project.id, stray=stray.id, into=usable_in(db, project, stray).id)


subscriptions = Planned(issues, issues.c.project_id).subscriptions
