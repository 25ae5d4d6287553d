"""Links between a pipeline, the pipelines that its jobs have started, and the one whose job has started it."""

from typing import NamedTuple

from ingot.ci.downstream.queries import mirrored_ids, visible_pipelines
from ingot.ci.job_records.queries import job_by_id
from ingot.ci.pipelines.hierarchy import downstream_ids, upstream_link
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.pipelines.tables import Status


class LinkedPipeline(NamedTuple):
    """A pipeline that the user may see."""

    id: int
    status: Status
    url: str
    project_path: str
    project_id: int


def _linked(db: Connection, actor: Actor, pipeline_ids: list[int]) -> dict[int, LinkedPipeline]:
    return {
        pipeline.id: LinkedPipeline(
            pipeline.id,
            pipeline.status,
            f"/{project.full_path}/-/pipelines/{pipeline.id}",
            project.full_path,
            project.id,
        )
        for pipeline, project in visible_pipelines(db, actor, pipeline_ids).values()
    }


def downstream_of_jobs(db: Connection, actor: Actor, job_ids: list[int]) -> dict[int, LinkedPipeline]:
    """Return the visible pipelines that jobs have started or whose status they take, by job id."""
    started = {**mirrored_ids(db, job_ids), **downstream_ids(db, job_ids)}
    linked = _linked(db, actor, list(started.values()))
    return {job_id: linked[pipeline_id] for job_id, pipeline_id in started.items() if pipeline_id in linked}


def upstream_of_pipeline(db: Connection, actor: Actor, pipeline_id: int) -> LinkedPipeline | None:
    """Return the pipeline whose job has started a pipeline, if there is one that the user may see."""
    link = upstream_link(db, pipeline_id)
    return None if link is None else _linked(db, actor, [link.upstream_id]).get(link.upstream_id)


def pipeline_of_bridge(db: Connection, project_id: int, job_id: int) -> int | None:
    """Return the pipeline of a job that starts another pipeline; None for other jobs and projects."""
    job = job_by_id(db, job_id)
    return job.pipeline_id if job is not None and job.bridge and job.project_id == project_id else None
