"""State changes of jobs that start pipelines."""

from ingot.ci.downstream.queries import downstream_or_none, is_project_deleted
from ingot.ci.job_records.queries import jobs_of_pipeline, lock_job, options_of
from ingot.ci.job_records.tables import FailureReason
from ingot.ci.pipelines.hierarchy import cancel_children, hierarchy_size, upstream_link, with_ancestors
from ingot.ci.pipelines.processing import CANCELABLE, cancel_jobs, finish_job, resume_job
from ingot.ci.pipelines.transitions import ENDED
from ingot.collaboration.merge_requests.merge.train_queries import car_of_pipeline
from ingot.core.db.connection import Connection
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.pipelines.tables import CHILD_SOURCE, Pipeline, Status, commit_statuses

MAX_CHILD_LEVELS = 2
MAX_HIERARCHY_SIZE = 1_000
"""Number of pipelines that may follow from one, over all levels and projects."""
_MAX_VISITS = 2
"""How often a branch may occur among the ancestors of a pipeline."""
_MAX_MESSAGE_LENGTH = 2_000
_RESULTS: dict[Status, Status] = {
    "success": "success",
    "canceled": "canceled",
    "failed": "failed",
    "skipped": "failed",
}


class BridgeRefused(Exception):
    """A job cannot start its pipeline."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def check_hierarchy(db: Connection, upstream: Pipeline, *, is_child: bool) -> None:
    """Raise BridgeRefused if another pipeline would make the hierarchy too deep or too large, or be part of a loop."""
    ancestors = with_ancestors(db, upstream)
    if is_child:
        levels = 0
        while ancestors[levels].source == CHILD_SOURCE and levels + 1 < len(ancestors):
            levels += 1
        if levels >= MAX_CHILD_LEVELS:
            raise BridgeRefused(
                "reached_max_descendant_pipelines_depth",
                f"Child pipelines can have {MAX_CHILD_LEVELS} levels at most",
            )
    else:
        visits = [(each.project_id, each.ref, each.source) for each in ancestors if each.source != CHILD_SOURCE]
        if any(visits.count(each) > _MAX_VISITS for each in visits):
            raise BridgeRefused("pipeline_loop_detected", "The pipelines of several projects start each other")
    if hierarchy_size(db, upstream.id) >= MAX_HIERARCHY_SIZE:
        raise BridgeRefused(
            "reached_max_pipeline_hierarchy_size", f"{MAX_HIERARCHY_SIZE} pipelines at most may follow from one"
        )


def fail_bridge(db: Connection, job_id: int, reason: FailureReason, message: str) -> None:
    """End a pending job whose pipeline was not created; the message is shown with it."""
    job = lock_job(db, job_id)
    if job is not None and job.status == "pending":
        db.update(commit_statuses, job.id, description=message[:_MAX_MESSAGE_LENGTH])
        finish_job(db, job, "failed", reason)


def follow_downstream_pipeline(db: Connection, pipeline_id: int) -> None:
    """Give a job that waits for a pipeline the result of the pipeline, or let it run again with the pipeline.

    Only the pipeline of the job is locked. When the other pipeline changes once more, this function is called again.
    """
    link = upstream_link(db, pipeline_id)
    job = None if link is None else lock_job(db, link.job_id)
    trigger = None if job is None else options_of(job).trigger
    pipeline = downstream_or_none(db, pipeline_id)
    if job is None or job.retried or trigger is None or not trigger.depend or pipeline is None:
        return
    result = _RESULTS.get(pipeline.status)
    if is_project_deleted(db, pipeline.project_id):
        result = "failed"
    if job.status in ENDED and job.status != result:
        job = resume_job(db, job)
    if result is not None:
        finish_job(db, job, result)


def cancel_pipeline(db: Connection, pipeline_id: int) -> None:
    """Cancel the jobs of a child pipeline, or of one that no merge train needs, and, after that, its own children.

    A merge train that needs a pipeline again in the meantime keeps it.
    """
    pipeline = lock_pipeline_by_id(db, pipeline_id)
    if pipeline is None or (pipeline.merge_request_event_type == "merge_train" and car_of_pipeline(db, pipeline_id)):
        return
    cancel_jobs(db, pipeline, [job for job in jobs_of_pipeline(db, pipeline_id) if job.status in CANCELABLE])
    cancel_children(db, pipeline_id)
