"""Endpoint of the merge requests of a deployment."""

from typing import Any

from ingot.collaboration.merge_requests.deployments.queries import ids_of_deployment
from ingot.collaboration.merge_requests.list_views import merge_requests_as_views
from ingot.collaboration.merge_requests.params import ListMergeRequests
from ingot.collaboration.merge_requests.queries import list_merge_requests_by_ids
from ingot.collaboration.merge_requests.views import MergeRequestView, SimpleMergeRequestView
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.environments.policy import may_read_environments
from ingot.projects.environments.queries import find_deployment
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("deployments")


@routes.get(
    "/projects/:id/deployments/:deployment_id/merge_requests",
    on=project_in_path,
    may=may_read_environments,
    returns=list[MergeRequestView | SimpleMergeRequestView],
    job_token=True,
)
def list_deployed_merge_requests(call: Call, project: Project, params: ListMergeRequests, page: Page) -> Listing[Any]:
    """List the merge requests that a deployment has brought to its environment first."""
    deployment = find_deployment(call.db, project, path_number(call.path, "deployment_id"))
    ids = ids_of_deployment(call.db, deployment.id)
    listing = list_merge_requests_by_ids(call.db, call.actor, ids, params, page)
    return merge_requests_as_views(call, listing, params, project)
