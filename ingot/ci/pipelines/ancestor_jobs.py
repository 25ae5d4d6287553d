"""Jobs of parent pipelines whose artifacts a job of a child pipeline gets (``needs:pipeline:job``)."""

from ingot.ci.config.variables import ExpandedVariables, expand_text
from ingot.ci.job_records.queries import jobs_of_pipeline, options_of, variables_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.hierarchy import with_ancestors
from ingot.ci.pipelines.variables import given_variables
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.pipelines.queries import pipelines_by_ids


def ancestor_jobs(db: Connection, job: CiJob) -> list[CiJob | None]:
    """Return the needed jobs of parent pipelines; None for each that does not exist or belongs to another pipeline."""
    needs = options_of(job).ancestor_needs
    if not needs:
        return []
    pipeline = pipelines_by_ids(db, [job.pipeline_id])[job.pipeline_id]
    parents = {each.id for each in with_ancestors(db, pipeline)[1:] if each.project_id == job.project_id}
    own = {each.key: each.value for each in variables_of(job)}
    scope = ExpandedVariables({**own, **{each.key: each.value for each in given_variables(db, pipeline.id)}})
    found: list[CiJob | None] = []
    for need in needs:
        pipeline_id = number_or_none(expand_text(need.pipeline, scope))
        name = expand_text(need.job, scope)
        jobs = jobs_of_pipeline(db, pipeline_id) if pipeline_id in parents and pipeline_id is not None else []
        found.append(next((each for each in jobs if each.name == name and not each.bridge), None))
    return found
