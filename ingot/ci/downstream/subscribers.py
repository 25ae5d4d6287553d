"""Subscribers that let jobs follow the pipelines for which they wait."""

from ingot.ci.downstream.queries import unfinished_downstream_ids
from ingot.ci.pipelines.hierarchy import upstream_link
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import enqueue
from ingot.pipelines.events import PipelineChanged
from ingot.projects.projects.events import ProjectDeleted

FOLLOW_DOWNSTREAM_PIPELINE = "follow_downstream_pipeline"
subscriptions = Subscriptions()


@subscriptions.on(PipelineChanged)
def follow_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Update the job that waits for a pipeline, in a transaction of its own, which locks the job's pipeline."""
    if upstream_link(db, event.pipeline_id) is not None:
        _follow(db, event.pipeline_id)


@subscriptions.on(ProjectDeleted)
def end_waiting_jobs(db: Connection, event: ProjectDeleted) -> None:
    """End the jobs of other projects that wait for pipelines of a deleted project."""
    for pipeline_id in unfinished_downstream_ids(db, event.project_id):
        _follow(db, pipeline_id)


def _follow(db: Connection, pipeline_id: int) -> None:
    enqueue(db, FOLLOW_DOWNSTREAM_PIPELINE, pipeline_id, unique_key=f"follow pipeline {pipeline_id}")
