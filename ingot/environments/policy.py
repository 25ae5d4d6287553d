"""Who may do what with environments and deployments: nobody anything where the project has no pipelines."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.projects.tables import Project


def may_read_environments(actor: Actor, here: Access, project: Project) -> bool:
    """Reporters."""
    return _holds(actor, here, project, Level.REPORTER)


def may_deploy(actor: Actor, here: Access, project: Project) -> bool:
    """Developers make and stop environments and deploy to them, unless the project is archived."""
    return _holds(actor, here, project, Level.DEVELOPER) and not project.archived


def may_change_environments(actor: Actor, here: Access, project: Project) -> bool:
    """Masters change and delete what is there, unless the project is archived."""
    return _holds(actor, here, project, Level.MASTER) and not project.archived


def _holds(actor: Actor, here: Access, project: Project, least: Level) -> bool:
    return (here.level >= least or actor.admin) and project.jobs_enabled
