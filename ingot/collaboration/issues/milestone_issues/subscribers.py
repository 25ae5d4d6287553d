"""Subscribers of issues to changes of milestones, projects and namespaces."""

from ingot.collaboration.issues.tables import issues
from ingot.collaboration.milestones.events import MilestonesMerging
from ingot.collaboration.planning.milestones import MilestoneReferences
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.projects.namespaces.events import NamespaceMoved
from ingot.projects.projects.events import ProjectMoved

subscriptions = Subscriptions()
_MILESTONES = MilestoneReferences(issues, issues.c.project_id)


@subscriptions.on(MilestonesMerging)
def merge_milestones(db: Connection, event: MilestonesMerging) -> None:
    """Change references to merged milestones into references to the remaining one."""
    _MILESTONES.merge(db, event.milestone_ids, event.into_id)


@subscriptions.on(ProjectMoved)
def replace_milestones_of_project(db: Connection, event: ProjectMoved) -> None:
    """Replace milestones of groups that a moved project no longer belongs to."""
    _MILESTONES.replace_in_project(db, event.project_id)


@subscriptions.on(NamespaceMoved)
def replace_milestones_of_namespace(db: Connection, event: NamespaceMoved) -> None:
    """Replace milestones of groups that the projects of a moved namespace no longer belong to."""
    _MILESTONES.replace_in_namespace(db, event.namespace_id)
