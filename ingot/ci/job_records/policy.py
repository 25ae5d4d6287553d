"""Permissions on jobs; none if the project has no pipelines or no repository."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_see_project, may_write_project
from ingot.projects.projects.tables import Project


def may_read_jobs(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters, and everyone who may see the project if its jobs are public."""
    if not has_jobs(project) or not may_use_feature(actor, access, project, "builds"):
        return False
    if access.level >= Level.REPORTER or actor.admin:
        return True
    return project.public_jobs and may_see_project(actor, access, project)


def may_change_jobs(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived."""
    return has_jobs(project) and may_write_project(actor, access, project)


def has_jobs(project: Project) -> bool:
    """Return whether pipelines and the repository are enabled."""
    return project.jobs_enabled and project.repository_access_level != "disabled"
