"""Subscriber that lets jobs follow the pipelines for which they wait."""

from ingot.ci.pipelines.hierarchy import upstream_link
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.queue import enqueue
from ingot.repositories.pipelines.events import PipelineChanged

FOLLOW_DOWNSTREAM_PIPELINE = "follow_downstream_pipeline"
subscriptions = Subscriptions()


@subscriptions.on(PipelineChanged)
def follow_pipeline(db: Connection, event: PipelineChanged) -> None:
    """Update the job that waits for a pipeline, in a transaction of its own, which locks the job's pipeline."""
    if upstream_link(db, event.pipeline_id) is not None:
        enqueue(db, FOLLOW_DOWNSTREAM_PIPELINE, event.pipeline_id, unique_key=f"follow pipeline {event.pipeline_id}")
