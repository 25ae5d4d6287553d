"""Permissions on project variables; group variables need ownership, instance variables administrator rights."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project


def may_read_variables(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers of a project with CI enabled; reading includes the values."""
    return may_admin_project(actor, access, project) and project.jobs_enabled


def may_change_variables(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers of a project with CI enabled, unless it is archived."""
    return may_change_project(actor, access, project) and project.jobs_enabled
