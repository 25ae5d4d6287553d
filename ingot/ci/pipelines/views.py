"""Response structs of variables of pipelines."""

from collections.abc import Sequence

from ingot.ci.job_records.queries import jobs_by_ids
from ingot.ci.job_records.views import JobPlace, JobView, external_job_views, job_views
from ingot.ci.pipelines.queries import variables_of_pipeline
from ingot.ci.pipelines.tables import VariableType
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.pipelines.tables import CommitStatus, Pipeline


class PipelineVariableView(View):
    """A variable that was given when a pipeline was created."""

    key: str
    value: str
    variable_type: VariableType
    raw: bool


def pipeline_variable_views(db: Connection, pipeline: Pipeline) -> list[PipelineVariableView]:
    """Return the variables of a pipeline."""
    return [
        PipelineVariableView(each.key, db.vault.unseal(each.sealed_value), each.variable_type, each.raw)
        for each in variables_of_pipeline(db, pipeline.id)
    ]


def status_job_views(
    db: Connection, statuses: Sequence[CommitStatus], pipeline: Pipeline, place: JobPlace
) -> list[JobView]:
    """Return a page of a pipeline's jobs and external statuses in the format of jobs, in their order."""
    jobs = job_views(db, jobs_by_ids(db, [status.id for status in statuses]), place)
    by_id = {job.id: job for job in jobs}
    external = [status for status in statuses if status.id not in by_id]
    by_id |= {job.id: job for job in external_job_views(db, external, pipeline, place)}
    return [by_id[status.id] for status in statuses]
