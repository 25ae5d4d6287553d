"""Permissions on job artifacts."""

from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.job_records.policy import may_change_jobs, may_read_jobs
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.tables import Project


def may_read_artifact(actor: Actor, access: Access, project: Project, artifact: JobArtifact) -> bool:
    """Users who may read the jobs of the project, unless the configuration limits the file to a role or to jobs."""
    if not may_read_jobs(actor, access, project) or artifact.access == "none":
        return False
    needed = Level.MASTER if artifact.access == "maintainer" else Level.DEVELOPER
    return artifact.public or access.level >= needed or actor.admin


def may_delete_artifacts(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, unless the project is archived."""
    return may_change_jobs(actor, access, project) and may_admin_project(actor, access, project)
