"""Endpoint of jobs that start pipelines."""

from ingot.ci.downstream.params import ListBridges
from ingot.ci.downstream.queries import list_bridges
from ingot.ci.downstream.views import BridgeView, bridge_views
from ingot.ci.pipelines.api import job_place, pipeline_in_path
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.repositories.commit_statuses.policy import may_read_pipelines
from ingot.repositories.context import RepositoryContext, repository_in_path

routes = Routes("pipelines")


@routes.get(
    "/projects/:id/pipelines/:pipeline_id/bridges",
    on=repository_in_path,
    may=may_read_pipelines,
    returns=list[BridgeView],
)
def list_pipeline_bridges(
    call: Call, context: RepositoryContext, params: ListBridges, page: Page
) -> Listing[BridgeView]:
    """List the jobs of a pipeline that start other pipelines."""
    pipeline = pipeline_in_path(call, context.project)
    listing = list_bridges(call.db, pipeline, params.scope, page)
    return listing.of(bridge_views(call.db, call.actor, listing.items, job_place(call, context)))
