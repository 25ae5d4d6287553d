"""Endpoints of pipelines that run jobs."""

from functools import partial

from ingot.ci.job_records.views import JobPlace, JobView
from ingot.ci.pipelines import policy, service, start
from ingot.ci.pipelines.given_variables import require_variables_allowed
from ingot.ci.pipelines.params import CreatePipeline, EditPipelineMetadata, ListJobsOfPipeline
from ingot.ci.pipelines.policy import PipelineSubject
from ingot.ci.pipelines.queries import ids_besides_jobs, settings_of
from ingot.ci.pipelines.ref_protection import may_run_jobs_of
from ingot.ci.pipelines.views import PipelineVariableView, pipeline_variable_views, status_job_views
from ingot.collaboration.merge_requests.finders import merge_request_in_path
from ingot.collaboration.merge_requests.policy import MergeRequestLookup, may_read_merge_request
from ingot.core.access.levels import Access
from ingot.core.access.rules import require, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.pipelines.queries import find_pipeline
from ingot.pipelines.tables import Pipeline
from ingot.pipelines.views import PipelineView, pipeline_view
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.tables import Project
from ingot.repositories.commit_statuses.policy import may_read_pipelines
from ingot.repositories.commit_statuses.queries import list_pipeline_statuses
from ingot.repositories.context import RepositoryContext, may_read_code, project_url, repository_in_path

routes = Routes("pipelines")


def pipeline_in_path(call: Call, project: Project) -> Pipeline:
    """Find the pipeline in the path."""
    return find_pipeline(call.db, project.id, path_number(call.path, "pipeline_id"))


def pipeline_to_change(call: Call) -> tuple[Access, PipelineSubject]:
    """Find the pipeline in the path with the permission to run jobs on its branch or tag."""
    access, project = project_in_path(call)
    require(policy.may_run_pipelines(call.actor, access, project))
    pipeline = pipeline_in_path(call, project)
    open_ref = may_run_jobs_of(call.db, call.actor, access, project, pipeline)
    return access, PipelineSubject(project, pipeline, open_ref)


def _view(call: Call | StagedCall, db: Connection, project: Project, pipeline_id: int) -> PipelineView:
    pipeline = find_pipeline(db, project.id, pipeline_id)
    return pipeline_view(db, pipeline, project_url(call, project), call.origin.base)


@routes.post(
    "/projects/:id/pipeline", on=project_in_path, may=policy.may_run_pipelines, returns=PipelineView, staged=True
)
def create_pipeline(stage: StagedCall, project: Project, params: CreatePipeline) -> PipelineView:
    """Create a pipeline for a branch or tag."""
    variables = start.given_variables(params.variables or ())
    if variables:
        stage.database.read(partial(require_variables_allowed, user_id=stage.actor.user_id, project=project))
    store = repository_store(stage.settings)
    source = "web" if stage.actor.via == "session" else "api"
    pipeline = start.run_pipeline(
        stage.database, store, project, stage.actor.user_id, params.ref, variables, source, params.inputs
    )
    return stage.database.read(partial(_view, stage, project=project, pipeline_id=pipeline.id))


@routes.post(
    "/projects/:id/merge_requests/:merge_request_iid/pipelines",
    on=merge_request_in_path,
    may=may_read_merge_request,
    returns=PipelineView,
    status=200,
    staged=True,
)
def create_merge_request_pipeline(stage: StagedCall, lookup: MergeRequestLookup) -> PipelineView:
    """Create a pipeline for the head of a merge request; the caller must be able to run pipelines in its project."""
    require(signed_in(stage.actor))
    project, pipeline = start.run_merge_request_pipeline(
        stage.database, repository_store(stage.settings), lookup.merge_request, stage.actor.user_id
    )
    return stage.database.read(partial(_view, stage, project=project, pipeline_id=pipeline.id))


@routes.post(
    "/projects/:id/pipelines/:pipeline_id/retry",
    on=pipeline_to_change,
    may=policy.may_change_pipeline,
    returns=PipelineView,
)
def retry_pipeline(call: Call, subject: PipelineSubject) -> PipelineView:
    """Retry the failed and canceled jobs of a pipeline."""
    service.retry_pipeline(call.db, call.actor, subject.pipeline)
    return _view(call, call.db, subject.project, subject.pipeline.id)


@routes.post(
    "/projects/:id/pipelines/:pipeline_id/cancel",
    on=pipeline_to_change,
    may=policy.may_change_pipeline,
    returns=PipelineView,
    status=200,
)
def cancel_pipeline(call: Call, subject: PipelineSubject) -> PipelineView:
    """Cancel the jobs of a pipeline that have not ended, and its child pipelines."""
    service.cancel_pipeline(call.db, call.actor, subject.pipeline)
    return _view(call, call.db, subject.project, subject.pipeline.id)


@routes.put(
    "/projects/:id/pipelines/:pipeline_id/metadata",
    on=pipeline_to_change,
    may=policy.may_change_pipeline,
    returns=PipelineView,
)
def edit_pipeline_metadata(call: Call, subject: PipelineSubject, params: EditPipelineMetadata) -> PipelineView:
    """Rename a pipeline."""
    service.rename_pipeline(call.db, subject.pipeline, params.name)
    return _view(call, call.db, subject.project, subject.pipeline.id)


@routes.delete(
    "/projects/:id/pipelines/:pipeline_id", on=project_in_path, may=policy.may_delete_pipeline, returns=None, status=204
)
def delete_pipeline(call: Call, project: Project) -> None:
    """Delete a pipeline with its jobs."""
    service.delete_pipeline(call.db, pipeline_in_path(call, project))


@routes.get(
    "/projects/:id/pipelines/:pipeline_id/variables",
    on=project_in_path,
    may=policy.may_run_pipelines,
    returns=list[PipelineVariableView],
)
def list_pipeline_variables(call: Call, project: Project) -> list[PipelineVariableView]:
    """List the variables that were given when a pipeline was created."""
    return pipeline_variable_views(call.db, pipeline_in_path(call, project))


@routes.get(
    "/projects/:id/pipelines/:pipeline_id/jobs",
    on=repository_in_path,
    may=may_read_pipelines,
    returns=list[JobView],
)
def list_pipeline_jobs(
    call: Call, context: RepositoryContext, params: ListJobsOfPipeline, page: Page
) -> Listing[JobView]:
    """List the jobs of a pipeline."""
    pipeline = pipeline_in_path(call, context.project)
    listing = list_pipeline_statuses(
        call.db,
        pipeline,
        page,
        retried=params.include_retried,
        states=params.scope,
        excluded=ids_besides_jobs(call.db, pipeline.id, external=not params.include_external),
    )
    return listing.of(status_job_views(call.db, listing.items, pipeline, job_place(call, context)))


def job_place(call: Call, context: RepositoryContext) -> JobPlace:
    """Return the project of jobs for their views."""
    # Guests may see public jobs without permission to read the code.
    readable = may_read_code(call.actor, context.access, context)
    return JobPlace(
        project_url(call, context.project),
        call.origin.base,
        context.repository if readable else None,
        job_token_scope=settings_of(call.db, context.project.id).job_token_scope_enabled,
    )
