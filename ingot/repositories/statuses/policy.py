"""Who may see pipelines; statuses are for those who may read the code, and are posted by those who may push it."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project
from ingot.repositories.context import RepositoryContext


def may_read_pipelines(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Those who may read the code, and guests where the project shows its jobs."""
    return may_read_project_pipelines(actor, access, context.project)


def may_read_project_pipelines(actor: Actor, access: Access, project: Project) -> bool:
    """The same of a project that is not at hand as a place."""
    shown = project.public_jobs and access.level >= Level.GUEST and project.repository_access_level != "disabled"
    return shown or may_download_code(actor, access, project)
