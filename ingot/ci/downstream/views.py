"""Response structs of jobs that start pipelines."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ingot.ci.downstream.queries import visible_pipelines
from ingot.ci.job_records.tables import CiJob, FailureReason
from ingot.ci.job_records.views import JobBase, JobPlace, job_views
from ingot.ci.pipelines.hierarchy import downstream_ids
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.pipelines.views import PipelineBrief, pipeline_brief


class BridgeView(JobBase):
    """A job that starts a pipeline; the pipeline is null if it does not exist or the caller may not see it."""

    downstream_pipeline: PipelineBrief | None
    failure_reason: FailureReason | UnsetType | None = UNSET


_JOB_FIELDS = tuple(name for name in BridgeView.__struct_fields__ if name != "downstream_pipeline")


def bridge_views(db: Connection, actor: Actor, jobs: Sequence[CiJob], place: JobPlace) -> list[BridgeView]:
    """Return the views of jobs that start pipelines."""
    started = downstream_ids(db, [job.id for job in jobs])
    visible = visible_pipelines(db, actor, list(started.values()))
    briefs = {
        pipeline_id: pipeline_brief(pipeline, f"{place.base}/{project.full_path}")
        for pipeline_id, (pipeline, project) in visible.items()
    }
    return [
        BridgeView(
            **{name: getattr(view, name) for name in _JOB_FIELDS},
            downstream_pipeline=briefs.get(started.get(view.id, 0)),
        )
        for view in job_views(db, jobs, place)
    ]
