"""Pages of a project, a page of its settings: address, access, deployments and custom domains of its site."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.core.api.params import number_or_none
from ingot.core.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.sites.deployments import api as deployments_api
from ingot.sites.domains import api as domains_api
from ingot.sites.domains.service import VERIFICATION_KEY
from ingot.sites.project_pages import api as pages_api
from ingot.sites.project_pages.params import EditPages
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.option_fields import DeclaredEffect, declared_effects, project_effects
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
LEVELS = {
    "enabled": "Everyone with access to the project",
    "private": "Only project members",
    "public": "Everyone, also without access to the project",
    "disabled": "Nobody: the site is disabled",
}
_LEVEL = "pages_access_level"
_FLAGS = ("pages_unique_domain_enabled", "pages_https_only")


@pages.get("/:path/-/pages")
def show_site(visit: Visit) -> PageResponse:
    """Show the site of a project with its deployments and domains."""
    return _page(_settings(visit), FormsState())


@pages.put("/:path/-/pages", notice="Changes saved.")
def edit_site(visit: Visit) -> PageResponse:
    """Change the access level and the settings of the site."""
    typed = form_values(visit, "site", ("pages_access_level", "pages_primary_domain"), _FLAGS)
    parent = _settings(visit)

    def save() -> None:
        level = str(typed["pages_access_level"])
        if level != "disabled" and _level(parent) != "disabled":
            parent.ask(pages_api.edit_pages, {name: typed[name] for name in (*_FLAGS, "pages_primary_domain")})
        parent.ask(projects_api.edit_project, {"pages_access_level": level})

    return submit_form("site", typed, save, partial(_page, parent), _url(parent))


@pages.delete("/:path/-/pages", notice="Site deleted.")
def delete_site(visit: Visit) -> PageResponse:
    """Take the site off."""
    return _submit(visit, "delete", {}, pages_api.delete_pages)


@pages.delete("/:path/-/pages/deployments/:deployment", notice="Deployment deleted.")
def delete_deployment(visit: Visit) -> PageResponse:
    """Stop serving a deployment."""
    return _submit(visit, "deployments", {}, deployments_api.delete_deployment, deployment_id=_number(visit))


@pages.post("/:path/-/pages/deployments/:deployment/restore", notice="Deployment restored.")
def restore_deployment(visit: Visit) -> PageResponse:
    """Serve a deleted deployment again."""
    return _submit(visit, "deployments", {}, deployments_api.restore_deployment, deployment_id=_number(visit))


@pages.post("/:path/-/pages/domains", notice="Domain added.")
def create_domain(visit: Visit) -> PageResponse:
    """Add a custom domain."""
    typed = form_values(visit, "domain", ("domain", "certificate", "key"), ("auto_ssl_enabled",))
    return _submit(visit, "domain", typed, domains_api.create_pages_domain, _certificate_params(typed))


@pages.put("/:path/-/pages/domains/:domain", notice="Domain saved.")
def edit_domain(visit: Visit) -> PageResponse:
    """Change the certificate of a custom domain."""
    typed = form_values(visit, "domain", ("certificate", "key"), ("auto_ssl_enabled",))
    domain = visit.request.path["domain"]
    params = _certificate_params(typed)
    return _submit(visit, f"domain_{domain}", typed, domains_api.edit_pages_domain, params, domain=domain)


@pages.post("/:path/-/pages/domains/:domain/verify", notice="Domain verified.")
def verify_domain(visit: Visit) -> PageResponse:
    """Look for the TXT record of a custom domain."""
    domain = visit.request.path["domain"]
    return _submit(visit, f"domain_{domain}", {}, domains_api.verify_pages_domain, domain=domain)


@pages.delete("/:path/-/pages/domains/:domain", notice="Domain deleted.")
def delete_domain(visit: Visit) -> PageResponse:
    """Delete a custom domain."""
    domain = visit.request.path["domain"]
    return _submit(visit, "domains", {}, domains_api.delete_pages_domain, domain=domain)


def _certificate_params(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a domain; an empty certificate changes nothing."""
    given = {name: value for name, value in typed.items() if name not in ("certificate", "key")}
    certificate = {name: typed[name] for name in ("certificate", "key") if str(typed[name]).strip()}
    return given | certificate


def _number(visit: Visit) -> int:
    number = number_or_none(visit.request.path["deployment"])
    if number is None:
        raise NotFound("Pages deployment")
    return number


def _settings(visit: Visit) -> ProjectContext:
    parent = find_project_settings(visit)
    if not visit.settings.serves_sites or not parent.may(deployments_api.list_deployments):
        raise NotFound("Page")
    return parent


def _effects() -> dict[str, DeclaredEffect]:
    return {_LEVEL: project_effects()[_LEVEL], **declared_effects(EditPages)}


def _level(parent: ProjectContext) -> str:
    """Return the access level of the site, a field of the view that is declared by the options of projects."""
    level: str = getattr(parent.project, _LEVEL)
    return level


def _url(parent: ProjectContext) -> str:
    return f"{parent.url}/-/pages"


def _submit(
    visit: Visit,
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., object],
    params: dict[str, Any] | None = None,
    **path: object,
) -> PageResponse:
    parent = _settings(visit)
    return submit_form(form, typed, lambda: parent.ask(endpoint, params, **path), partial(_page, parent), _url(parent))


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    enabled = _level(parent) != "disabled"
    context: dict[str, Any] = {
        "effects": _effects(),
        "section": "pages",
        "forms": forms,
        "site": parent.ask(pages_api.get_pages) if enabled else None,
        "levels": LEVELS,
        "deployments": parent.ask(deployments_api.list_deployments, {"per_page": 100}).items,
        "domains": parent.ask(domains_api.list_pages_domains, {"per_page": 100}).items,
        "record_name": VERIFICATION_KEY,
        "obtains_certificates": bool(parent.visit.settings.pages_acme_email),
        "has_unique_domains": not parent.visit.settings.sites_in_path,
        "may_change": parent.may(pages_api.delete_pages),
    }
    return parent.page("sites/settings.html", "settings", context, forms.status)
