"""Permissions on pipelines; reading statuses requires access to the code, posting them permission to push."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project
from ingot.repositories.context import RepositoryContext


def may_read_pipelines(actor: Actor, access: Access, context: RepositoryContext) -> bool:
    """Users with permission to read the code, and guests if the project has public jobs."""
    return may_read_project_pipelines(actor, access, context.project)


def may_read_project_pipelines(actor: Actor, access: Access, project: Project) -> bool:
    """Return whether the user may read the pipelines of a project."""
    shown = project.public_jobs and access.level >= Level.GUEST and project.repository_access_level != "disabled"
    return shown or may_download_code(actor, access, project)
