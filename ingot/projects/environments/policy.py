"""Who may do what with environments and deployments: nobody anything where the project has no pipelines."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.tables import Project


def may_read_environments(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters."""
    return _has_level(actor, access, project, Level.REPORTER)


def may_deploy(actor: Actor, access: Access, project: Project) -> bool:
    """Developers make and stop environments and deploy to them, unless the project is archived."""
    return _has_level(actor, access, project, Level.DEVELOPER) and not project.archived


def may_change_environments(actor: Actor, access: Access, project: Project) -> bool:
    """Masters change and delete what is there, unless the project is archived."""
    return _has_level(actor, access, project, Level.MASTER) and not project.archived


def _has_level(actor: Actor, access: Access, project: Project, least: Level) -> bool:
    return (access.level >= least or actor.admin) and project.jobs_enabled
