"""Permissions on the settings, deployments and domains of sites; none if the server publishes no sites."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import may_change_project
from ingot.projects.projects.tables import Project


def may_read_pages(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Maintainers and above."""
    return access.level >= Level.MASTER or actor.admin


def may_change_pages(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers and above, unless the project is archived."""
    return may_read_pages(actor, access, project) and may_change_project(actor, access, project)


def may_access_pages(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may see the site; members only if its access level is private."""
    level = project.options.pages_access_level
    return level != "disabled" and (level != "private" or access.level >= Level.GUEST or actor.admin)
