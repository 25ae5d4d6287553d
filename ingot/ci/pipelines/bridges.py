"""Jobs that have started another pipeline."""

from ingot.ci.job_records.queries import options_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.hierarchy import upstream_link
from ingot.ci.pipelines.processing import change_job, finish_job
from ingot.ci.pipelines.tables import downstream_pipelines
from ingot.core.db.connection import Connection


def link_downstream_pipeline(db: Connection, bridge: CiJob, pipeline_id: int) -> None:
    """Record that a job, whose pipeline is locked, has started a pipeline; it succeeds unless it has to wait for it."""
    link = upstream_link(db, bridge.pipeline_id)
    db.insert(
        downstream_pipelines,
        pipeline_id=pipeline_id,
        job_id=bridge.id,
        upstream_id=bridge.pipeline_id,
        root_id=bridge.pipeline_id if link is None else link.root_id,
    )
    trigger = options_of(bridge).trigger
    if trigger is not None and trigger.depend:
        change_job(db, bridge, "running")
    else:
        finish_job(db, bridge, "success")
