"""Permissions on secure files; none if pipelines or the repository are disabled."""

from ingot.ci.job_records.policy import has_jobs
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_change_project
from ingot.projects.projects.tables import Project


def may_read_secure_files(actor: Actor, access: Access, project: Project) -> bool:
    """Developers and above, and the jobs that they start."""
    has_level = access.level >= Level.DEVELOPER or actor.admin
    return has_level and has_jobs(project) and may_use_feature(actor, access, project, "builds")


def may_change_secure_files(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers and above, unless the project is archived."""
    return may_read_secure_files(actor, access, project) and may_change_project(actor, access, project)
