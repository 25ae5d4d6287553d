"""Layout of the pages of packages and container images: links between the two."""

from typing import Any

from ingot.packages.containers import api as containers_api
from ingot.packages.records import api as packages_api
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import TemplateResponse
from ingot.web.projects.context import ProjectContext

_OF_PROJECT = (
    ("packages", "Packages", packages_api.list_packages),
    ("container_registry", "Container registry", containers_api.list_container_repositories),
)
_OF_GROUP = (
    ("packages", "Packages", packages_api.list_group_packages),
    ("container_registries", "Container registry", containers_api.list_group_container_repositories),
)


def packages_page(
    parent: ProjectOrGroupContext, template: str, section: str, context: dict[str, Any], status: int = 200
) -> TemplateResponse:
    """Render a page with links to the other pages that the user has permission to see."""
    all_sections = _OF_PROJECT if isinstance(parent, ProjectContext) else _OF_GROUP
    sections = [
        (f"{parent.url}/-/{key}", name, key == section) for key, name, endpoint in all_sections if parent.may(endpoint)
    ]
    return parent.page(template, "packages", {**context, "sections": sections}, status)
