"""Jobs that take the status of the latest pipeline of another project (``needs:pipeline``)."""

from functools import partial

from sqlalchemy import bindparam, select

from ingot.ci.config.variables import expand_text
from ingot.ci.downstream.queries import downstream_or_none, is_project_deleted
from ingot.ci.downstream.service import BridgeRefused, fail_bridge
from ingot.ci.job_records.policy import may_read_jobs
from ingot.ci.job_records.queries import job_by_id, lock_job, options_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.processing import change_job, finish_job
from ingot.ci.pipelines.ref_protection import runner_of_pipeline
from ingot.ci.pipelines.tables import MirroredPipeline, mirrored_pipelines
from ingot.ci.pipelines.variables import downstream_variables
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.pipelines.queries import find_pipeline, lock_pipeline_by_id
from ingot.pipelines.tables import IS_NO_CHILD, Pipeline, Status, pipelines
from ingot.projects.projects.queries import existing_project, find_project
from ingot.projects.projects.tables import Project

_OF_JOB = select(mirrored_pipelines).where(mirrored_pipelines.c.job_id == bindparam("job"))
_LATEST = (
    select(pipelines)
    .where(
        pipelines.c.project_id == bindparam("project"),
        pipelines.c.ref == bindparam("ref"),
        ~pipelines.c.tag,
        IS_NO_CHILD,
    )
    .order_by(pipelines.c.id.desc())
    .limit(1)
)
_RESULTS: dict[Status, Status] = {
    "success": "success",
    "failed": "failed",
    "canceled": "canceled",
    "skipped": "skipped",
}


def is_mirror(db: Connection, job_id: int) -> bool:
    """Return whether a job takes the status of a pipeline instead of starting one."""
    job = job_by_id(db, job_id)
    return job is not None and options_of(job).upstream is not None


def start_mirror(database: Database, job_id: int) -> None:
    """Let a pending job follow the pipeline whose status it takes; it fails with a reason if there is none."""
    try:
        database.write(partial(_link_mirrored_pipeline, job_id=job_id))
    except BridgeRefused as refusal:
        database.write(partial(fail_bridge, job_id=job_id, reason=refusal.reason, message=str(refusal)))
    else:
        database.write(partial(follow_mirrored_pipeline, job_id=job_id))


def _link_mirrored_pipeline(db: Connection, job_id: int) -> None:
    """Record the pipeline whose status a pending job takes; raise BridgeRefused if there is none.

    Only the other pipeline is locked, so that none of its later changes is missed.
    """
    job = job_by_id(db, job_id)
    if job is None or job.status != "pending" or db.first(MirroredPipeline, _OF_JOB, job=job_id) is not None:
        return
    pipeline = lock_pipeline_by_id(db, _find_upstream(db, job).id)
    if pipeline is not None:
        db.insert_row(mirrored_pipelines, job_id=job_id, pipeline_id=pipeline.id)


def _find_upstream(db: Connection, job: CiJob) -> Pipeline:
    own = find_pipeline(db, job.project_id, job.pipeline_id)
    own_project = existing_project(db, job.project_id)
    permitted = runner_of_pipeline(db, job.user_id or own.user_id, own_project)
    if permitted is None:
        raise BridgeRefused("insufficient_upstream_permissions", "The user may not run pipelines of this project")
    scope, _ = downstream_variables(db, own_project, own, job, same_project=False)
    name = options_of(job).upstream or ""
    path = expand_text(name, scope)
    if "/" not in path:
        path = f"{own_project.full_path.rpartition('/')[0]}/{path}"
    project = _readable_project(db, permitted[0], path)
    pipeline = None if project is None else db.first(Pipeline, _LATEST, project=project.id, ref=project.default_branch)
    if pipeline is None or pipeline.id == own.id:
        # The message has the text of the file, because values of variables may be masked.
        text = f"Project `{name}` not found, access denied, or without a pipeline of its default branch"
        raise BridgeRefused("upstream_bridge_project_not_found", text)
    return pipeline


def _readable_project(db: Connection, actor: Actor, path: str) -> Project | None:
    try:
        access, project = find_project(db, actor, path)
    except NotFound:
        return None
    is_named = project.full_path.lower() == path.lower()  # Only paths name projects, not ids.
    return project if is_named and may_read_jobs(actor, access, project) else None


def follow_mirrored_pipeline(db: Connection, job_id: int) -> None:
    """Give a job the status of the pipeline that it follows; only the pipeline of the job is locked."""
    job = lock_job(db, job_id)
    link = db.first(MirroredPipeline, _OF_JOB, job=job_id)
    if job is None or job.retried or link is None or job.status not in ("pending", "running"):
        return
    pipeline = downstream_or_none(db, link.pipeline_id)
    if pipeline is None or is_project_deleted(db, pipeline.project_id):
        finish_job(db, job, "failed", "upstream_bridge_project_not_found")
    elif pipeline.status in _RESULTS:
        finish_job(db, job, _RESULTS[pipeline.status])
    elif pipeline.status == "running" and job.status == "pending":
        change_job(db, job, "running")
