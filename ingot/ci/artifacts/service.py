"""State changes of job artifacts."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, or_, update

from ingot.ci.artifacts.queries import stored_artifact_or_none, stored_artifacts_of_jobs
from ingot.ci.artifacts.tables import ArtifactFormat, ArtifactType, JobArtifact, job_artifacts
from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob, ci_job_variables
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import add_duration
from ingot.core.errors import NotFound
from ingot.core.jobs.queue import enqueue
from ingot.projects.projects.tables import projects

DELETE_ARTIFACT_FILES = "delete_artifact_files"
_DELETE = delete(job_artifacts).where(in_list(job_artifacts.c.id, "artifacts"))
_ADD_SIZE = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(job_artifacts_size=projects.c.job_artifacts_size + bindparam("added"))
)
_KEEP = (
    update(job_artifacts)
    .where(job_artifacts.c.job_id == bindparam("job"), job_artifacts.c.expire_at.is_not(None))
    .values(expire_at=None)
)
_EXPIRE = (
    update(job_artifacts)
    .where(
        job_artifacts.c.project_id == bindparam("project"),
        or_(job_artifacts.c.expire_at.is_(None), job_artifacts.c.expire_at > bindparam("moment")),
    )
    .values(expire_at=bindparam("moment"))
)
_DELETE_DOTENV = delete(ci_job_variables).where(
    ci_job_variables.c.job_id == bindparam("job"), ci_job_variables.c.source == "dotenv"
)


class StoredFile(NamedTuple):
    """An uploaded file that is complete and on disk."""

    storage_key: str
    filename: str
    size: int
    file_type: ArtifactType
    file_format: ArtifactFormat
    expire_in: int | None
    """Seconds until it expires; None for never."""
    variables: tuple[tuple[str, str], ...] = ()
    """Variables of a dotenv report."""


def add_artifact(db: Connection, job: CiJob, stored: StoredFile) -> JobArtifact:
    """Record an uploaded file of a job; it replaces an earlier one of its type, which a runner may send again."""
    # A runner that repeats an upload must not collide with the first one.
    db.lock(f"artifacts of job {job.id}")
    options = options_of(job).artifacts
    access = options.get("access", "all")
    previous = stored_artifact_or_none(db, job.id, stored.file_type)
    if previous is not None:
        delete_artifacts(db, [previous])
    expire_at = None if stored.expire_in is None else add_duration(db.now, seconds=stored.expire_in)
    db.insert(
        job_artifacts,
        job_id=job.id,
        project_id=job.project_id,
        file_type=stored.file_type,
        file_format=stored.file_format,
        filename=stored.filename,
        size=stored.size,
        storage_key=stored.storage_key,
        public=options.get("public", True) is not False and access == "all",
        access=access if access in ("maintainer", "none") else None,
        created_at=db.now,
        expire_at=expire_at,
    )
    db.run(_ADD_SIZE, project=job.project_id, added=stored.size)
    if stored.file_type == "dotenv":
        _replace_variables(db, job.id, stored.variables)
    artifact = stored_artifact_or_none(db, job.id, stored.file_type)
    if artifact is None:
        raise NotFound("Artifact")
    return artifact


def delete_artifacts(db: Connection, artifacts: Sequence[JobArtifact]) -> None:
    """Delete the rows of files; a job deletes the files after the commit."""
    if not artifacts:
        return
    db.run(_DELETE, artifacts=[artifact.id for artifact in artifacts])
    sizes: dict[int, int] = {}
    for artifact in artifacts:
        sizes[artifact.project_id] = sizes.get(artifact.project_id, 0) + artifact.size
    for project_id, size in sorted(sizes.items()):
        db.run(_ADD_SIZE, project=project_id, added=-size)
    enqueue(db, DELETE_ARTIFACT_FILES, [artifact.storage_key for artifact in artifacts])


def erase_artifacts(db: Connection, job: CiJob) -> None:
    """Delete all files of a job."""
    delete_artifacts(db, stored_artifacts_of_jobs(db, [job.id]))
    db.run(_DELETE_DOTENV, job=job.id)


def keep_artifacts(db: Connection, job: CiJob) -> None:
    """Keep the files of a job forever."""
    db.run(_KEEP, job=job.id)


def expire_project_artifacts(db: Connection, project_id: int) -> None:
    """Let all files of a project expire now."""
    db.run(_EXPIRE, project=project_id, moment=db.now)


def _replace_variables(db: Connection, job_id: int, variables: tuple[tuple[str, str], ...]) -> None:
    db.run(_DELETE_DOTENV, job=job_id)
    for key, value in variables:
        db.insert(ci_job_variables, job_id=job_id, source="dotenv", key=key, sealed_value=db.vault.seal(value))
