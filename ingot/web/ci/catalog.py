"""CI/CD catalog: list of projects, and the page of each with its components."""

from typing import Any

import msgspec

from ingot.ci.catalog import api as catalog_api
from ingot.ci.catalog.views import CatalogComponentView, readme_of_version
from ingot.core.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext
from ingot.web.texts import render_markdown

pages = PageRoutes()
_ORDERS = {
    "star_count_desc": "Most stars",
    "usage_count_desc": "Most used",
    "latest_released_at_desc": "Newest version",
    "name_asc": "Name",
}
_VERSIONS = 100


@pages.get("/explore/catalog", open=True)
def show_catalog(visit: Visit) -> PageResponse:
    """List the projects that publish components, filtered by ``search`` and ``scope``."""
    search, scope, sort = (text_field(visit.request.query, name) for name in ("search", "scope", "sort"))
    sort = sort if sort in _ORDERS else next(iter(_ORDERS))
    scope = "namespaces" if scope == "namespaces" else "all"
    params = {"search": search, "scope": scope, "sort": sort, "page": visit.request.page}
    context = {
        "resources": visit.ask(catalog_api.list_catalog_resources, params),
        "search": search,
        "scope": scope,
        "orders": _ORDERS,
        "order": sort,
    }
    return TemplateResponse("explore/catalog.html", context)


@pages.get("/explore/catalog/:path", open=True, slashes="path")
def show_resource(visit: Visit) -> PageResponse:
    """Show the components of a version, by default of the latest, and its README."""
    project = visit.ask(projects_api.get_project, {"ci_settings": False}, id=visit.request.path["path"])
    parent = ProjectContext(visit, project)
    versions = parent.ask(catalog_api.list_catalog_versions, {"per_page": _VERSIONS}).items
    if not versions:
        raise NotFound("Page")
    resource = parent.ask(catalog_api.get_catalog_resource)
    name = text_field(visit.request.query, "version") or resource.latest_version or versions[0].name
    found = parent.ask(catalog_api.list_catalog_versions, {"name": name}).items
    if not found:
        raise NotFound("Version")
    readme = visit.database.read(lambda db: readme_of_version(db, found[0]))
    context: dict[str, Any] = {
        "resource": resource,
        "project": project,
        "versions": versions,
        "version": found[0],
        "snippets": {component.id: _snippet(component) for component in found[0].components},
        "defaults": {
            component.id: {each.name: _text(each.default) for each in component.inputs}
            for component in found[0].components
        },
        "readme": render_markdown(visit, readme, project.id, ref=found[0].sha),
    }
    return TemplateResponse("explore/catalog_resource.html", context)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _snippet(component: CatalogComponentView) -> str:
    """Return the lines that include a component, with its required inputs."""
    lines = ["include:", f"  - component: {component.include_path}"]
    required = [f"      {declared.name}: " for declared in component.inputs if declared.required]
    return "\n".join((*lines, *(["    inputs:"] if required else []), *required))
