"""Endpoints of statuses and pipelines."""

from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.paging import Listing, Page
from ingot.pipelines.queries import find_pipeline
from ingot.pipelines.views import PipelineBrief, PipelineView, pipeline_brief, pipeline_view
from ingot.repositories.commit_statuses import policy, post, queries
from ingot.repositories.commit_statuses.params import (
    GetLatestPipeline,
    ListPipelines,
    ListPipelineStatuses,
    ListStatuses,
    PostStatus,
)
from ingot.repositories.commit_statuses.views import CommitStatusView, status_views
from ingot.repositories.commits.queries import find_commit
from ingot.repositories.context import (
    RepositoryContext,
    may_push_code,
    project_url,
    repository_in_path,
    repository_state,
)

routes = Routes("statuses")


@routes.get(
    "/projects/:id/repository/commits/:sha/statuses",
    on=repository_in_path,
    may=policy.may_read_statuses,
    returns=list[CommitStatusView],
    cached=repository_state,
)
def list_statuses(
    call: Call, context: RepositoryContext, params: ListStatuses, page: Page
) -> Listing[CommitStatusView]:
    """List the statuses of a commit."""
    commit = find_commit(context.repository, call.path["sha"])
    listing = queries.list_statuses(call.db, context.project.id, commit.oid, params, page)
    return listing.of(status_views(call.db, listing.items, call.origin.base))


@routes.post(
    "/projects/:id/statuses/:sha", on=repository_in_path, may=may_push_code, returns=CommitStatusView, staged=True
)
def post_status(stage: StagedCall, context: RepositoryContext, params: PostStatus) -> CommitStatusView:
    """Add a status to a commit, or update the unfinished one with the same name."""
    return post.post_status(stage.database, stage.actor, context, stage.path["sha"], params, stage.origin.base)


@routes.get(
    "/projects/:id/pipelines",
    on=repository_in_path,
    may=policy.may_read_pipelines,
    returns=list[PipelineBrief],
    cached=repository_state,
)
def list_pipelines(call: Call, context: RepositoryContext, params: ListPipelines, page: Page) -> Listing[PipelineBrief]:
    """List the pipelines of a project."""
    listing = queries.list_pipelines(call.db, context, params, page)
    url = project_url(call, context.project)
    return listing.of([pipeline_brief(pipeline, url) for pipeline in listing.items])


@routes.get(
    "/projects/:id/pipelines/latest", on=repository_in_path, may=policy.may_read_pipelines, returns=PipelineView
)
def get_latest_pipeline(call: Call, context: RepositoryContext, params: GetLatestPipeline) -> PipelineView:
    """Get the newest pipeline of the latest commit of a branch or tag."""
    pipeline = queries.find_latest_pipeline(call.db, context, params)
    return pipeline_view(call.db, pipeline, project_url(call, context.project), call.origin.base)


@routes.get(
    "/projects/:id/pipelines/:pipeline_id",
    on=repository_in_path,
    may=policy.may_read_pipelines,
    returns=PipelineView,
    cached=repository_state,
)
def get_pipeline(call: Call, context: RepositoryContext) -> PipelineView:
    """Get a pipeline."""
    pipeline = find_pipeline(call.db, context.project.id, path_number(call.path, "pipeline_id"))
    return pipeline_view(call.db, pipeline, project_url(call, context.project), call.origin.base)


@routes.get(
    "/projects/:id/pipelines/:pipeline_id/statuses",
    on=repository_in_path,
    may=policy.may_read_pipelines,
    returns=list[CommitStatusView],
)
def list_pipeline_statuses(
    call: Call, context: RepositoryContext, params: ListPipelineStatuses, page: Page
) -> Listing[CommitStatusView]:
    """List the statuses of a pipeline."""
    pipeline = find_pipeline(call.db, context.project.id, path_number(call.path, "pipeline_id"))
    listing = queries.list_pipeline_statuses(call.db, pipeline, page, retried=params.all)
    return listing.of(status_views(call.db, listing.items, call.origin.base))
