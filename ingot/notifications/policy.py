"""Permissions on notification settings."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.policy import may_see_project
from ingot.projects.projects.tables import Project


def may_set_group_notifications(actor: Actor, access: Access, group: Namespace) -> bool:
    """Signed-in users who can see the group."""
    return actor.known and may_see_group(actor, access, group)


def may_set_project_notifications(actor: Actor, access: Access, project: Project) -> bool:
    """Signed-in users who can see the project."""
    return actor.known and may_see_project(actor, access, project)
