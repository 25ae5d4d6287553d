"""Permissions on the scope of job tokens; none if the project has no pipelines."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project


def may_read_token_scope(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers."""
    return may_admin_project(actor, access, project) and project.jobs_enabled


def may_change_token_scope(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, unless the project is archived."""
    return may_change_project(actor, access, project) and project.jobs_enabled
