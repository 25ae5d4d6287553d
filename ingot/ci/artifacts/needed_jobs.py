"""Jobs of other pipelines whose artifacts a job gets (``needs:pipeline:job`` and ``needs:project``)."""

from collections.abc import Mapping

from ingot.ci.artifacts.policy import may_read_artifact
from ingot.ci.artifacts.queries import artifact_or_none, latest_success_of_ref
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.config.plan import AncestorNeed, ProjectNeed
from ingot.ci.config.variables import expand_text
from ingot.ci.job_records.actors import actor_of_job
from ingot.ci.job_records.queries import jobs_of_pipeline, options_of
from ingot.ci.job_records.tables import CiJob
from ingot.ci.pipelines.hierarchy import first_of_family
from ingot.ci.pipelines.variables import downstream_variables
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.queries import existing_project, find_project


def jobs_of_other_pipelines(db: Connection, job: CiJob) -> list[CiJob | None]:
    """Return the needed jobs of other pipelines and projects; None for each whose artifacts the job cannot get."""
    options = options_of(job)
    if not options.ancestor_needs and not options.project_needs:
        return []
    pipeline = pipelines_by_ids(db, [job.pipeline_id])[job.pipeline_id]
    project = existing_project(db, job.project_id)
    scope, _ = downstream_variables(db, project, pipeline, job, same_project=True)
    actor = actor_of_job(db, job)
    return [
        *(_job_of_family(db, pipeline, need, scope) for need in options.ancestor_needs),
        *(None if actor is None else _job_of_project(db, actor, need, scope) for need in options.project_needs),
    ]


def _job_of_family(db: Connection, pipeline: Pipeline, need: AncestorNeed, scope: Mapping[str, str]) -> CiJob | None:
    """Return a successful job of a parent pipeline, or of another child pipeline of the same parents."""
    pipeline_id = number_or_none(expand_text(need.pipeline, scope)) or 0
    other = pipelines_by_ids(db, [pipeline_id]).get(pipeline_id)
    if other is None or other.id == pipeline.id or other.project_id != pipeline.project_id:
        return None
    if first_of_family(db, other).id != first_of_family(db, pipeline).id:
        return None
    name = expand_text(need.job, scope)
    jobs = (each for each in jobs_of_pipeline(db, other.id) if each.name == name and not each.bridge)
    return next((each for each in jobs if each.status == "success"), None)


def _job_of_project(db: Connection, actor: Actor, need: ProjectNeed, scope: Mapping[str, str]) -> CiJob | None:
    """Return the latest successful job of a ref with its name, if the user may read its archive."""
    path = expand_text(need.project, scope)
    try:
        _, project = find_project(db, actor, path)
    except NotFound:
        return None
    if project.full_path.lower() != path.lower():  # Only paths name projects, not ids.
        return None
    job = latest_success_of_ref(db, project.id, expand_text(need.ref, scope), expand_text(need.job, scope))
    archive = None if job is None else artifact_or_none(db, job.id)
    return job if archive is not None and _may_read(db, actor, archive) else None


def may_get_archive(db: Connection, job: CiJob, archive: JobArtifact | None) -> bool:
    """Return whether a job may download the archive of a job of another project in the name of its user."""
    actor = actor_of_job(db, job)
    return actor is not None and archive is not None and _may_read(db, actor, archive)


def _may_read(db: Connection, actor: Actor, archive: JobArtifact) -> bool:
    try:
        access, project = find_project(db, actor, archive.project_id)
    except NotFound:
        return False
    return may_read_artifact(actor, access, project, archive)
