"""Subscribers that let jobs follow the pipelines for which they wait."""

from ingot.ci.downstream.queries import followers, mirrors_of_project, unfinished_downstream_ids
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.events import PipelineChanged
from ingot.projects.projects.events import ProjectDeleted

FOLLOW_DOWNSTREAM_PIPELINE = "follow_downstream_pipeline"
FOLLOW_MIRRORED_PIPELINE = "follow_mirrored_pipeline"
subscriptions = Subscriptions()


@subscriptions.on(PipelineChanged)
def follow_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Update the jobs that follow a pipeline, each in a transaction of its own, which locks the job's pipeline."""
    for job_id, mirrors in followers(db, event.pipeline_id):
        if mirrors:
            _mirror(db, job_id)
        else:
            _follow(db, event.pipeline_id)


@subscriptions.on(ProjectDeleted)
def end_waiting_jobs(db: Connection, event: ProjectDeleted) -> None:
    """End the jobs of other projects that wait for pipelines of a deleted project."""
    for pipeline_id in unfinished_downstream_ids(db, event.project_id):
        _follow(db, pipeline_id)
    for job_id in mirrors_of_project(db, event.project_id):
        _mirror(db, job_id)


def _mirror(db: Connection, job_id: int) -> None:
    enqueue(db, FOLLOW_MIRRORED_PIPELINE, job_id, unique_key=f"mirror of job {job_id}")


def _follow(db: Connection, pipeline_id: int) -> None:
    enqueue(db, FOLLOW_DOWNSTREAM_PIPELINE, pipeline_id, unique_key=f"follow pipeline {pipeline_id}")
