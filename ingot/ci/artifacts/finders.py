"""Subjects of endpoints of artifacts: the archive of a job, found by the job or by a ref and the job's name."""

from typing import NamedTuple

from ingot.ci.artifacts.policy import may_read_artifact
from ingot.ci.artifacts.queries import artifact_or_none, latest_job_of_ref
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.job_records.policy import may_read_jobs
from ingot.ci.job_records.queries import find_job
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call
from ingot.core.errors import NotFound
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project


class ArtifactSubject(NamedTuple):
    """Archive of a job."""

    project: Project
    artifact: JobArtifact


def artifact_in_path(call: Call) -> tuple[Access, ArtifactSubject]:
    """Find the archive of the job in the path; the permission comes first, so that it does not tell which exist."""
    access, project = project_in_path(call)
    require(may_read_jobs(call.actor, access, project))
    job = find_job(call.db, project.id, path_number(call.path, "job_id"))
    artifact = artifact_or_none(call.db, job.id)
    if artifact is None:
        raise NotFound(message="404 Not found")
    return access, ArtifactSubject(project, artifact)


def find_artifact_of_ref(call: Call, project: Project, ref: str, job_name: str) -> JobArtifact:
    """Return the archive of the newest successful job with a name on a branch or tag; raise NotFound otherwise."""
    job = latest_job_of_ref(call.db, project.id, ref, job_name)
    artifact = None if job is None else artifact_or_none(call.db, job.id)
    if artifact is None:
        raise NotFound(message="404 Not found")
    require(may_read_artifact(call.actor, call.access, project, artifact))
    return artifact


def may_read_archive(actor: Actor, access: Access, subject: ArtifactSubject) -> bool:
    """Users who may read the jobs of the project, unless the configuration limits the file to a role or to jobs."""
    return may_read_artifact(actor, access, subject.project, subject.artifact)
