"""Queries of job artifacts."""

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, bindparam, exists, or_, select

from ingot.accounts.instance.tables import instance_settings
from ingot.ci.artifacts.tables import JobArtifact, job_artifacts
from ingot.ci.job_records.ports import ArtifactSummary
from ingot.ci.job_records.queries import JOBS
from ingot.ci.job_records.tables import CiJob, JobOptions, ci_jobs
from ingot.ci.pipelines.tables import ci_settings
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.pipelines.tables import commit_statuses, pipelines

SWEEP_BATCH = 500
_ENDED_WITHOUT_SUCCESS = ("failed", "canceled", "skipped")


def _is_latest_of_ref() -> ColumnElement[bool]:
    """Return the condition that no newer pipeline of the ref was successful, so that the files are kept."""
    newer = pipelines.alias("newer")
    superseded = exists().where(
        newer.c.project_id == pipelines.c.project_id,
        newer.c.ref == pipelines.c.ref,
        newer.c.tag == pipelines.c.tag,
        newer.c.id > pipelines.c.id,
        newer.c.status == "success",
    )
    # Values that equal the default are not stored.
    disabled = exists().where(instance_settings.c.document.contains('"keep_latest_artifact":false', autoescape=True))
    return and_(
        ~disabled,
        or_(ci_settings.c.project_id.is_(None), ci_settings.c.keep_latest_artifact),
        ~one_of(pipelines.c.status, *_ENDED_WITHOUT_SUCCESS),
        ~superseded,
    )


_WITH_PIPELINE = (
    select(job_artifacts)
    .join(commit_statuses, commit_statuses.c.id == job_artifacts.c.job_id)
    .join(pipelines, pipelines.c.id == commit_statuses.c.pipeline_id)
    .outerjoin(ci_settings, ci_settings.c.project_id == job_artifacts.c.project_id)
)
_AVAILABLE = _WITH_PIPELINE.where(
    or_(job_artifacts.c.expire_at.is_(None), job_artifacts.c.expire_at > bindparam("now"), _is_latest_of_ref())
)
_EXPIRED = (
    _WITH_PIPELINE.where(
        job_artifacts.c.expire_at.is_not(None),
        job_artifacts.c.expire_at <= bindparam("now"),
        job_artifacts.c.id > bindparam("after"),
        ~_is_latest_of_ref(),
    )
    .order_by(job_artifacts.c.id)
    .limit(SWEEP_BATCH)
)
_ONE = _AVAILABLE.where(job_artifacts.c.job_id == bindparam("job"), job_artifacts.c.file_type == bindparam("file_type"))
_STORED = select(job_artifacts).where(
    job_artifacts.c.job_id == bindparam("job"), job_artifacts.c.file_type == bindparam("file_type")
)
_STORED_OF_JOBS = (
    select(job_artifacts)
    .where(in_list(job_artifacts.c.job_id, "jobs"))
    .order_by(job_artifacts.c.job_id, job_artifacts.c.id)
)
_OF_JOBS = _AVAILABLE.where(in_list(job_artifacts.c.job_id, "jobs")).order_by(
    job_artifacts.c.job_id, job_artifacts.c.id
)
_OF_PIPELINE = (
    _AVAILABLE.where(
        commit_statuses.c.pipeline_id == bindparam("pipeline"),
        ~commit_statuses.c.retried,
        job_artifacts.c.file_type == bindparam("file_type"),
    )
    .add_columns(commit_statuses.c.name)
    .order_by(job_artifacts.c.job_id)
)
_EXPOSED = _OF_PIPELINE.add_columns(ci_jobs.c.options).join(
    ci_jobs, and_(ci_jobs.c.id == job_artifacts.c.job_id, ci_jobs.c.options.contains('"expose_as"'))
)
_EXISTING_KEYS = select(job_artifacts.c.storage_key).where(in_list(job_artifacts.c.storage_key, "keys"))
_RECORDED = (
    select(job_artifacts.c.id, job_artifacts.c.storage_key, job_artifacts.c.size)
    .where(job_artifacts.c.id > bindparam("after"))
    .order_by(job_artifacts.c.id)
    .limit(SWEEP_BATCH)
)
_LATEST_SUCCESS_OF_REF = (
    JOBS.join(pipelines, pipelines.c.id == commit_statuses.c.pipeline_id)
    .where(
        pipelines.c.project_id == bindparam("project"),
        pipelines.c.ref == bindparam("ref"),
        commit_statuses.c.name == bindparam("name"),
        commit_statuses.c.status == "success",
        ~commit_statuses.c.retried,
    )
    .order_by(pipelines.c.id.desc())
    .limit(1)
)
# The newest successful job with an archive, as it must have had one to be of use.
_LATEST_OF_REF = _LATEST_SUCCESS_OF_REF.where(pipelines.c.status == "success")


def artifact_or_none(db: Connection, job_id: int, file_type: str = "archive") -> JobArtifact | None:
    """Return a file of a job unless it has expired."""
    return db.first(JobArtifact, _ONE, job=job_id, file_type=file_type, now=db.now)


def stored_artifact_or_none(db: Connection, job_id: int, file_type: str) -> JobArtifact | None:
    """Return a file of a job, also if it has expired."""
    return db.first(JobArtifact, _STORED, job=job_id, file_type=file_type)


def artifacts_of_jobs(db: Connection, job_ids: Collection[int]) -> dict[int, list[JobArtifact]]:
    """Return the files of several jobs that have not expired, by job id; jobs without files are left out."""
    artifacts: dict[int, list[JobArtifact]] = {}
    for artifact in db.all(JobArtifact, _OF_JOBS, jobs=list(job_ids), now=db.now) if job_ids else ():
        artifacts.setdefault(artifact.job_id, []).append(artifact)
    return artifacts


def stored_artifacts_of_jobs(db: Connection, job_ids: Collection[int]) -> list[JobArtifact]:
    """Return the files of several jobs, also those that have expired."""
    return db.all(JobArtifact, _STORED_OF_JOBS, jobs=list(job_ids)) if job_ids else []


def artifact_summaries(db: Connection, job_ids: list[int]) -> dict[int, list[ArtifactSummary]]:
    """Return what views of jobs show of their files, by job id."""
    return {
        job_id: [
            ArtifactSummary(each.file_type, each.size, each.filename, each.file_format, each.expire_at)
            for each in artifacts
        ]
        for job_id, artifacts in artifacts_of_jobs(db, job_ids).items()
    }


def reports_of_pipeline(db: Connection, pipeline_id: int, file_type: str) -> list[tuple[str, JobArtifact]]:
    """Return the reports of one type of a pipeline with the names of their jobs."""
    rows = db.rows(_OF_PIPELINE, pipeline=pipeline_id, file_type=file_type, now=db.now)
    return [(row[-1], JobArtifact(*row[:-1])) for row in rows]


def exposed_archives(db: Connection, pipeline_id: int) -> list[tuple[str, JobArtifact, dict[str, Any]]]:
    """Return the archives of a pipeline that merge requests link to, with names and artifact options of their jobs."""
    rows = db.rows(_EXPOSED, pipeline=pipeline_id, file_type="archive", now=db.now)
    archives = [
        (row[-2], JobArtifact(*row[:-2]), msgspec.json.decode(row[-1], type=JobOptions).artifacts) for row in rows
    ]
    return [each for each in archives if each[2].get("expose_as")]


def expired_artifacts(db: Connection, after: int) -> list[JobArtifact]:
    """List the next files that have expired and are not those of the latest pipeline of their ref."""
    return db.all(JobArtifact, _EXPIRED, after=after, now=db.now)


def latest_job_of_ref(db: Connection, project_id: int, ref: str, name: str) -> CiJob | None:
    """Return the job with a name of the newest successful pipeline of a branch or tag that has one."""
    return db.first(CiJob, _LATEST_OF_REF, project=project_id, ref=ref, name=name)


def latest_success_of_ref(db: Connection, project_id: int, ref: str, name: str) -> CiJob | None:
    """Return the latest successful job with a name on a branch or tag, whatever became of its pipeline."""
    return db.first(CiJob, _LATEST_SUCCESS_OF_REF, project=project_id, ref=ref, name=name)


def existing_keys(db: Connection, keys: Collection[str]) -> set[str]:
    """Return those of these storage keys that have a row."""
    return {key for (key,) in db.rows(_EXISTING_KEYS, keys=list(keys))}


def recorded_artifacts(db: Connection, after: int) -> list[tuple[int, str, int]]:
    """List the next files with their ids, storage keys and sizes."""
    return [(row_id, key, size) for row_id, key, size in db.rows(_RECORDED, after=after)]
