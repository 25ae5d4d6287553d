"""Integration settings of projects and groups; the forms are generated from the registry of integrations."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.core.errors import NotFound
from ingot.integrations import api as services_api
from ingot.integrations.registry import EVENTS, REGISTRY, Integration
from ingot.projects.projects import api as projects_api
from ingot.web.groups.integration_fields import integration_fields, integration_title
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
_SECTION = "settings/integrations"
_EVENT_NAMES = {
    "push": "Pushes",
    "tag_push": "Tag pushes",
    "issue": "Issues",
    "confidential_issue": "Confidential issues",
    "merge_request": "Merge requests",
    "note": "Comments",
    "confidential_note": "Confidential comments",
    "job": "Jobs",
    "pipeline": "Pipelines",
    "wiki_page": "Wiki pages",
    "commit": "Commits",
}


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the integration pages of projects or of groups."""
    pages.get(prefix)(lambda visit: _list_integrations(find_parent(visit)))
    pages.get(f"{prefix}/:slug")(lambda visit: _integration_page(find_parent(visit), FormsState()))
    pages.put(f"{prefix}/:slug", notice="Integration saved.")(lambda visit: _save(find_parent(visit)))
    pages.delete(f"{prefix}/:slug", notice="Integration disabled.")(lambda visit: _remove(find_parent(visit)))


def _list_integrations(parent: ProjectOrGroupContext) -> TemplateResponse:
    """List the integrations with an effect and those that are configured, active ones first."""
    configured = {
        service.slug: service for service in parent.ask(services_api.list_integrations, {"per_page": 100}).items
    }
    integrations = [
        (integration, configured.get(integration.slug))
        for integration in REGISTRY.values()
        if integration.kind != "none" or integration.slug in configured
    ]
    integrations.sort(
        key=lambda pair: (not (pair[1] and pair[1].active), pair[0].kind == "none", integration_title(pair[0]).lower())
    )
    context = {"integrations": [(each, integration_title(each), service) for each, service in integrations]}
    return settings_page(parent, "groups/integrations.html", _SECTION, context)


def _save(parent: ProjectOrGroupContext) -> PageResponse:
    """Create or update an integration."""
    visit, integration = parent.visit, _integration_in_path(parent.visit)
    flags = [each.name for each in integration.properties if each.kind == "flag"]
    flags += [EVENTS[event] for event in integration.events]
    texts = [each.name for each in integration.properties if each.kind != "flag"]
    typed = form_values(visit, "service", texts, (*flags, "active"))
    omitted_if_empty = {
        each.name for each in integration.properties if each.secret or each.required or each.kind == "number"
    }
    # Empty optional fields are cleared. Empty secrets are not sent, so they stay unchanged; the API reports missing
    # required fields.
    params = {name: value for name, value in typed.items() if value != "" or name not in omitted_if_empty}
    url = f"{parent.url}/-/{_SECTION}"
    save = partial(parent.ask, services_api.set_integration, params, slug=integration.slug)
    return submit_form("service", typed, save, lambda forms: _integration_page(parent, forms), url)


def _remove(parent: ProjectOrGroupContext) -> PageResponse:
    """Disable an integration."""
    parent.ask(services_api.delete_integration, slug=_integration_in_path(parent.visit).slug)
    return LocalRedirect(f"{parent.url}/-/{_SECTION}")


def _integration_in_path(visit: Visit) -> Integration:
    if visit.request.path["slug"] not in REGISTRY:
        raise NotFound("Integration")
    return REGISTRY[visit.request.path["slug"]]


def _integration_page(parent: ProjectOrGroupContext, forms: FormsState) -> TemplateResponse:
    integration = _integration_in_path(parent.visit)
    service = parent.ask(services_api.get_integration, slug=integration.slug)
    context: dict[str, Any] = {
        "forms": forms,
        "integration": integration,
        "title": integration_title(integration),
        "integration_fields": integration_fields(integration),
        "service": service,
        "events": [(EVENTS[event], _EVENT_NAMES[event]) for event in integration.events],
        # An archived project cannot be changed.
        "may_change": not isinstance(parent, ProjectContext) or parent.may(projects_api.edit_project),
    }
    return settings_page(parent, "groups/integration.html", _SECTION, context, forms.status)


_declare_pages("/:path/-/settings/integrations", find_project_settings)
_declare_pages("/groups/:path/-/settings/integrations", find_group_settings)
