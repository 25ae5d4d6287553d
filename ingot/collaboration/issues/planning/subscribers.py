"""What becomes of what is planned when milestones become one, or stay behind in another group."""

from sqlalchemy import ColumnElement, Table, bindparam, select, update

from ingot.collaboration.issues.tables import issues
from ingot.collaboration.milestones.events import MilestonesMerging
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.service import find_or_copy_milestone
from ingot.collaboration.milestones.tables import milestones
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.events import NamespaceMoved
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.events import ProjectMoved
from ingot.projects.projects.queries import existing_project, projects_in_namespace
from ingot.projects.projects.tables import Project

_ANCESTOR_GROUPS = select(namespace_tree.c.ancestor_id).where(namespace_tree.c.descendant_id == bindparam("namespace"))


class MilestoneUpdater:
    """Lets the rows of a table, each of which may have a milestone, follow what becomes of milestones."""

    def __init__(self, rows: Table, project_id: ColumnElement[int]) -> None:
        self.subscriptions = Subscriptions()
        self.subscriptions.on(MilestonesMerging)(self.on_milestones_merging)
        self.subscriptions.on(ProjectMoved)(self.on_project_moved)
        self.subscriptions.on(NamespaceMoved)(self.on_namespace_moved)
        here = project_id == bindparam("project")
        self._move_on = (
            update(rows).where(in_list(rows.c.milestone_id, "merged")).values(milestone_id=bindparam("into"))
        )
        # Deleted ones count too: their rows stay, and what they point at may be of a group that is hidden from now on.
        used = select(rows.c.milestone_id).where(here, rows.c.milestone_id.is_not(None))
        self._stray = (
            select(milestones.c.id)
            .where(
                milestones.c.group_id.is_not(None),
                milestones.c.group_id.not_in(_ANCESTOR_GROUPS.scalar_subquery()),
                milestones.c.id.in_(used.scalar_subquery()),
            )
            .order_by(milestones.c.id)
        )
        self._replace = (
            update(rows).where(here, rows.c.milestone_id == bindparam("stray")).values(milestone_id=bindparam("into"))
        )

    def on_milestones_merging(self, db: Connection, event: MilestonesMerging) -> None:
        """What has one of them goes on in the milestone that stays."""
        db.run(self._move_on, merged=event.milestone_ids, into=event.into_id)

    def on_project_moved(self, db: Connection, event: ProjectMoved) -> None:
        """A project takes along the milestones that are used in it of the groups around it."""
        self._replace_outside_milestones(db, existing_project(db, event.project_id))

    def on_namespace_moved(self, db: Connection, event: NamespaceMoved) -> None:
        """So do the projects of a group."""
        for project in projects_in_namespace(db, event.namespace_id):
            self._replace_outside_milestones(db, project)

    def _replace_outside_milestones(self, db: Connection, project: Project) -> None:
        found = [row[0] for row in db.rows(self._stray, project=project.id, namespace=project.namespace_id)]
        for stray in milestones_by_ids(db, found).values() if found else ():
            db.run(
                self._replace, project=project.id, stray=stray.id, into=find_or_copy_milestone(db, project, stray).id
            )


subscriptions = MilestoneUpdater(issues, issues.c.project_id).subscriptions
