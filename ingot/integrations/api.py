"""Endpoints of services, at ``/services`` and, as in newer GitLab versions, at ``/integrations``."""

from collections.abc import Iterator
from contextlib import contextmanager

from ingot.accounts.audit_events.service import Entity, record_changes
from ingot.accounts.instance.outgoing_rules import guard_within
from ingot.core.api.params import Params
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.integrations import queries, service
from ingot.integrations.params import PARAMS_BY_SLUG
from ingot.integrations.registry import Integration
from ingot.integrations.tables import ServiceParent
from ingot.integrations.views import ServiceBriefView, ServiceView, service_brief_view, service_view
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project

routes = Routes("services")


def _list(call: Call, parent: ServiceParent, page: Page) -> Listing[ServiceBriefView]:
    listing = queries.list_services(call.db, parent, page)
    return listing.of([service_brief_view(parent, each) for each in listing.items])


def _get(call: Call, parent: ServiceParent) -> ServiceView:
    integration = queries.find_integration(call.path["slug"])
    return service_view(parent, integration, queries.service_or_none(call.db, parent, integration.slug))


def _set(call: Call, parent: ServiceParent, params: Params) -> ServiceView:
    integration = queries.find_integration(call.path["slug"])
    guard = guard_within(call.db, call.settings)
    with _recorded(call, parent, integration):
        changed = service.set_service(call.db, parent, integration, params, guard)
    return service_view(parent, integration, changed)


def _delete(call: Call, parent: ServiceParent) -> None:
    integration = queries.find_integration(call.path["slug"])
    with _recorded(call, parent, integration):
        service.delete_service(call.db, parent, integration)


@contextmanager
def _recorded(call: Call, parent: ServiceParent, integration: Integration) -> Iterator[None]:
    """Record the changes of an integration's settings among the audit events of the project or group."""
    before = service.setting_values(call.db, parent, integration)
    yield
    after = service.setting_values(call.db, parent, integration)
    entity = Entity("Project" if isinstance(parent, Project) else "Group", parent.id, parent.full_path)
    record_changes(call, entity, *service.without_secrets(integration, before, after))


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


@routes.get("/groups/:id/integrations", on=group_in_path, may=may_admin_group, returns=list[ServiceBriefView])
@routes.get("/projects/:id/integrations", on=project_in_path, may=may_admin_project, returns=list[ServiceBriefView])
def list_integrations(call: Call, parent: ServiceParent, page: Page) -> Listing[ServiceBriefView]:
    """List the integrations of a project or group."""
    return _list(call, parent, page)


@routes.get(
    "/groups/:id/integrations/:slug",
    on=group_in_path,
    may=may_admin_group,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
@routes.get(
    "/projects/:id/integrations/:slug",
    on=project_in_path,
    may=may_admin_project,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
def get_integration(call: Call, parent: ServiceParent) -> ServiceView:
    """Get the settings of an integration of a project or group, its own or inherited ones."""
    return _get(call, parent)


@routes.put(
    "/groups/:id/integrations/:slug",
    on=group_in_path,
    may=may_admin_group,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
@routes.put(
    "/projects/:id/integrations/:slug",
    on=project_in_path,
    may=may_change_project,
    returns=ServiceView,
    kinds=PARAMS_BY_SLUG,
)
def set_integration(call: Call, parent: ServiceParent, params: Params) -> ServiceView:
    """Set up an integration for a project, or for the projects of a group, or change its settings."""
    return _set(call, parent, params)


@routes.delete(
    "/groups/:id/integrations/:slug",
    on=group_in_path,
    may=may_admin_group,
    returns=None,
    status=204,
    kinds=PARAMS_BY_SLUG,
)
@routes.delete(
    "/projects/:id/integrations/:slug", on=project_in_path, may=may_change_project, returns=None, kinds=PARAMS_BY_SLUG
)
def delete_integration(call: Call, parent: ServiceParent) -> None:
    """Delete an integration from a project or group."""
    _delete(call, parent)
