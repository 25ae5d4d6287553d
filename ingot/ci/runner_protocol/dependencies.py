"""Jobs whose artifacts a job gets."""

import re

from ingot.ci.artifacts.queries import artifact_or_none, artifacts_of_jobs
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.config.durations import parse_duration
from ingot.ci.job_records.queries import jobs_of_pipeline, needs_of, options_of
from ingot.ci.job_records.tables import CiJob
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration

_COPY = re.compile(r"(.+?)(?: \d+/\d+|: \[.*\])", re.DOTALL)


def dependencies_of(db: Connection, job: CiJob) -> list[CiJob]:
    """Return the jobs whose artifacts a job gets: those that it names, those that it needs, or all before it."""
    names = _named_dependencies(job)
    if (names is None and job.stage_index == 0) or (names is not None and not names):
        return []
    others = [other for other in jobs_of_pipeline(db, job.pipeline_id) if other.id != job.id]
    if names is not None:
        return [other for other in others if other.name in names or _name_of_copies(other.name) in names]
    return [other for other in others if other.stage_index < job.stage_index]


def _name_of_copies(name: str) -> str | None:
    """Return the name that all copies of a parallel job share; None for other jobs."""
    copy = _COPY.fullmatch(name)
    return copy[1] if copy else None


def _named_dependencies(job: CiJob) -> tuple[str, ...] | None:
    dependencies = options_of(job).dependencies
    return needs_of(job) if dependencies is None else dependencies


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
    if _named_dependencies(job) is None:
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
