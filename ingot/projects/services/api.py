"""Endpoints of services, at ``/services`` and, as in newer GitLab versions, at ``/integrations``."""

from ingot.core.api.params import Params
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.projects.services import queries, service
from ingot.projects.services.params import PARAMS_BY_SLUG
from ingot.projects.services.views import ServiceBriefView, ServiceView, service_brief_view, service_view

routes = Routes("services")


def _list(call: Call, project: Project, page: Page) -> Listing[ServiceBriefView]:
    listing = queries.list_services(call.db, project.id, page)
    return listing.of([service_brief_view(each) for each in listing.items])


def _get(call: Call, project: Project) -> ServiceView:
    integration = queries.find_integration(call.path["slug"])
    return service_view(integration, queries.service_or_none(call.db, project.id, integration.slug))


def _set(call: Call, project: Project, params: Params) -> ServiceView:
    integration = queries.find_integration(call.path["slug"])
    guard = SsrfGuard(call.settings.allow_local_requests, call.settings.allowed_outgoing_networks)
    return service_view(integration, service.set_service(call.db, project, integration, params, guard))


def _delete(call: Call, project: Project) -> None:
    integration = queries.find_integration(call.path["slug"])
    existing = queries.service_or_none(call.db, project.id, integration.slug)
    if existing is not None:
        service.delete_service(call.db, existing)


@routes.get("/projects/:id/services", on=project_in_path, may=may_admin_project, returns=list[ServiceBriefView])
def list_services(call: Call, project: Project, page: Page) -> Listing[ServiceBriefView]:
    """List the services of a project."""
    return _list(call, project, page)


@routes.get(
    "/projects/:id/services/:slug", on=project_in_path, may=may_admin_project, returns=ServiceView, kinds=PARAMS_BY_SLUG
)
def get_service(call: Call, project: Project) -> ServiceView:
    """Get the settings of a service."""
    return _get(call, project)


@routes.put(
    "/projects/:id/services/:slug",
    on=project_in_path,
    may=may_change_project,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
def set_service(call: Call, project: Project, params: Params) -> ServiceView:
    """Set up a service for a project, or change its settings."""
    return _set(call, project, params)


@routes.delete(
    "/projects/:id/services/:slug", on=project_in_path, may=may_change_project, returns=None, kinds=PARAMS_BY_SLUG
)
def delete_service(call: Call, project: Project) -> None:
    """Delete a service from a project."""
    _delete(call, project)


@routes.get("/projects/:id/integrations", on=project_in_path, may=may_admin_project, returns=list[ServiceBriefView])
def list_integrations(call: Call, project: Project, page: Page) -> Listing[ServiceBriefView]:
    """List the integrations of a project."""
    return _list(call, project, page)


@routes.get(
    "/projects/:id/integrations/:slug",
    on=project_in_path,
    may=may_admin_project,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
def get_integration(call: Call, project: Project) -> ServiceView:
    """Get the settings of an integration."""
    return _get(call, project)


@routes.put(
    "/projects/:id/integrations/:slug",
    on=project_in_path,
    may=may_change_project,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
def set_integration(call: Call, project: Project, params: Params) -> ServiceView:
    """Set up an integration for a project, or change its settings."""
    return _set(call, project, params)


@routes.delete(
    "/projects/:id/integrations/:slug", on=project_in_path, may=may_change_project, returns=None, kinds=PARAMS_BY_SLUG
)
def delete_integration(call: Call, project: Project) -> None:
    """Delete an integration from a project."""
    _delete(call, project)
