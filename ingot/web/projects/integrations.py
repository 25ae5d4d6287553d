"""Integration settings of a project; the forms are generated from the registry of integrations."""

from functools import partial
from typing import Any

from ingot.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.projects.services import api as services_api
from ingot.projects.services.registry import EVENTS, REGISTRY, Integration
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
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


@pages.get("/:path/-/settings/integrations")
def list_integrations(visit: Visit) -> PageResponse:
    """List the integrations with an effect and those that are configured, active ones first."""
    parent = find_project_settings(visit)
    configured = {
        service.slug: service for service in parent.ask(services_api.list_integrations, {"per_page": 100}).items
    }
    integrations = [
        (integration, configured.get(integration.slug))
        for integration in REGISTRY.values()
        if integration.kind != "none" or integration.slug in configured
    ]
    integrations.sort(
        key=lambda pair: (not (pair[1] and pair[1].active), pair[0].kind == "none", pair[0].title.lower())
    )
    context = {"section": "settings/integrations", "integrations": integrations}
    return parent.page("projects/integrations.html", "settings", context)


@pages.get("/:path/-/settings/integrations/:slug")
def show_integration(visit: Visit) -> PageResponse:
    """Show the form of an integration, without its secrets."""
    return _integration_page(find_project_settings(visit), FormsState())


@pages.put("/:path/-/settings/integrations/:slug", notice="Integration saved.")
def save_integration(visit: Visit) -> PageResponse:
    """Create or update an integration."""
    parent, integration = find_project_settings(visit), _integration_in_path(visit)
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
    url = f"{parent.url}/-/settings/integrations"
    save = partial(parent.ask, services_api.set_integration, params, slug=integration.slug)
    return submit_form("service", typed, save, lambda forms: _integration_page(parent, forms), url)


@pages.delete("/:path/-/settings/integrations/:slug", notice="Integration disabled.")
def remove_integration(visit: Visit) -> PageResponse:
    """Disable an integration."""
    parent = find_project_settings(visit)
    parent.ask(services_api.delete_integration, slug=_integration_in_path(visit).slug)
    return LocalRedirect(f"{parent.url}/-/settings/integrations")


def _integration_in_path(visit: Visit) -> Integration:
    if visit.request.path["slug"] not in REGISTRY:
        raise NotFound("Integration")
    return REGISTRY[visit.request.path["slug"]]


def _integration_page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    integration = _integration_in_path(parent.visit)
    service = parent.ask(services_api.get_integration, slug=integration.slug)
    context: dict[str, Any] = {
        "section": "settings/integrations",
        "forms": forms,
        "integration": integration,
        "service": service,
        "events": [(EVENTS[event], _EVENT_NAMES[event]) for event in integration.events],
        "may_change": parent.may(projects_api.edit_project),
    }
    return parent.page("projects/integration.html", "settings", context, forms.status)
