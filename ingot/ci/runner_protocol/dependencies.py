"""Archives of the jobs that a job depends on."""

from ingot.ci.artifacts.needed_jobs import jobs_of_other_pipelines
from ingot.ci.artifacts.queries import artifact_or_none, artifacts_of_jobs
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.config.durations import parse_duration
from ingot.ci.job_records.dependencies import dependencies_of, named_dependencies
from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration


def archives_of(db: Connection, jobs: list[CiJob]) -> dict[int, JobArtifact]:
    """Return the archives of jobs by job id, without those that have expired."""
    archives: dict[int, JobArtifact] = {}
    for job_id, artifacts in artifacts_of_jobs(db, [job.id for job in jobs]).items():
        archive = next((artifact for artifact in artifacts if artifact.file_type == "archive"), None)
        if archive is not None and archive.expire_at is not None and archive.expire_at <= db.now:
            # The newest ones of a branch are kept.
            archive = artifact_or_none(db, job_id)
        if archive is not None:
            archives[job_id] = archive
    return archives


def has_missing_dependency(db: Connection, job: CiJob) -> bool:
    """Return whether artifacts of a job that this one names or needs have been erased or have expired."""
    if None in jobs_of_other_pipelines(db, job):
        return True
    if named_dependencies(job) is None:
        return False
    dependencies = [other for other in dependencies_of(db, job) if other.status in ("success", "failed")]
    archives = archives_of(db, dependencies)
    return any(other.erased_at is not None or _has_expired(db, other, archives.get(other.id)) for other in dependencies)


def _has_expired(db: Connection, job: CiJob, archive: JobArtifact | None) -> bool:
    """Return whether the archive of a job was removed because of its age."""
    if archive is not None:
        return False
    options = options_of(job).artifacts
    duration = options.get("expire_in")
    if duration is None or job.finished_at is None or not (options.get("paths") or options.get("untracked")):
        return False
    seconds = parse_duration(str(duration))
    return bool(seconds) and add_duration(job.finished_at, seconds=seconds or 0) <= db.now
