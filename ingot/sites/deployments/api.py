"""Endpoints of deployments of sites."""

from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects.tables import Project
from ingot.sites.deployments import policy, queries, service
from ingot.sites.deployments.finders import project_with_pages
from ingot.sites.deployments.tables import PagesDeployment
from ingot.sites.deployments.views import PagesDeploymentView, deployment_view

routes = Routes("pages")


def _deployment_in_path(call: Call, project: Project) -> PagesDeployment:
    return queries.find_deployment(call.db, project.id, path_number(call.path, "deployment_id"))


@routes.get(
    "/projects/:id/pages/deployments",
    on=project_with_pages,
    may=policy.may_read_pages,
    returns=list[PagesDeploymentView],
)
def list_deployments(call: Call, project: Project, page: Page) -> Listing[PagesDeploymentView]:
    """List the deployments of the site of a project, the newest first, with those that ended within a day."""
    listing = queries.list_deployments(call.db, project.id, page)
    return listing.of([deployment_view(deployment, call.db.now) for deployment in listing.items])


@routes.delete(
    "/projects/:id/pages/deployments/:deployment_id",
    on=project_with_pages,
    may=policy.may_change_pages,
    returns=None,
    status=204,
)
def delete_deployment(call: Call, project: Project) -> None:
    """Stop serving a deployment, which can be restored for a day."""
    service.delete_deployment(call.db, _deployment_in_path(call, project))


@routes.post(
    "/projects/:id/pages/deployments/:deployment_id/restore",
    on=project_with_pages,
    may=policy.may_change_pages,
    returns=PagesDeploymentView,
)
def restore_deployment(call: Call, project: Project) -> PagesDeploymentView:
    """Serve a deleted deployment again, instead of the present one with its path prefix."""
    service.restore_deployment(call.db, _deployment_in_path(call, project))
    return deployment_view(_deployment_in_path(call, project), call.db.now)
