"""Pages of the container images of projects and groups."""

from functools import partial
from typing import get_args

from ingot.ci.pipelines.predefined_variables import registry_host
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.packages.containers import api as containers_api
from ingot.packages.containers.views import group_repositories
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.cleanup_policy import KeptTags, TagAge
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.issues.group_context import group_context
from ingot.web.packages.sections import packages_page
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.option_fields import project_effects

pages = PageRoutes()


_CADENCES = {
    "1d": "Every day",
    "7d": "Every week",
    "14d": "Every two weeks",
    "1month": "Every month",
    "3month": "Every three months",
}
_NUMBERS = [str(number) for number in get_args(KeptTags)]
_AGES = {age: age.removesuffix("d") for age in get_args(TagAge)}
_POLICY_FIELDS = ("cadence", "keep_n", "older_than", "name_regex", "name_regex_keep")


@pages.get("/:path/-/container_registry", open=True)
def show_repositories(visit: Visit) -> PageResponse:
    """List the container repositories."""
    return _list_page(project_context(visit), FormsState())


@pages.get("/groups/:path/-/container_registries", open=True)
def show_group_repositories(visit: Visit, db: Connection) -> PageResponse:
    """List the container repositories of the projects in a group and its subgroups."""
    parent = group_context(visit)
    params = {"page": visit.request.page, "per_page": 20}
    listing = parent.ask(containers_api.list_group_container_repositories, params)
    context = {"repositories": listing.of(group_repositories(db, listing.items))}
    return packages_page(parent, "packages/group_repositories.html", "container_registries", context)


@pages.put("/:path/-/container_registry", notice="Cleanup policy saved.")
def change_cleanup_policy(visit: Visit) -> PageResponse:
    """Change the cleanup policy."""
    parent = project_context(visit)
    typed = form_values(visit, "policy", _POLICY_FIELDS, ("enabled",))
    params = {"container_expiration_policy_attributes": {name: value or None for name, value in typed.items()}}
    params["container_expiration_policy_attributes"]["enabled"] = typed["enabled"]
    url = f"{parent.url}/-/container_registry"
    return submit_form(
        "policy", typed, lambda: parent.ask(projects_api.edit_project, params), partial(_list_page, parent), url
    )


def _list_page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    visit = parent.visit
    params = {"tags_count": True, "page": visit.request.page, "per_page": 20}
    repositories = parent.ask(containers_api.list_container_repositories, params)
    host = registry_host(visit.request.origin.base)
    image = f"{host}/{parent.project.path_with_namespace.lower()}"
    commands = f"docker login {host}\ndocker build -t {image} .\ndocker push {image}"
    context = {
        "repositories": repositories,
        "commands": commands,
        "forms": forms,
        "cadences": _CADENCES,
        "numbers": _NUMBERS,
        "ages": _AGES,
        "effect": project_effects()["container_expiration_policy"]._replace(default="off"),
        "may_change": parent.may(projects_api.edit_project),
    }
    return packages_page(parent, "packages/repositories.html", "container_registry", context, forms.status)


@pages.get("/:path/-/container_registry/:repository", open=True)
def show_repository(visit: Visit) -> PageResponse:
    """Show the tags of a container repository."""
    return _page(project_context(visit))


@pages.delete("/:path/-/container_registry/:repository", notice="Repository deleted.")
def delete_repository(visit: Visit) -> PageResponse:
    """Delete a container repository."""
    parent = project_context(visit)
    try:
        parent.ask(containers_api.delete_container_repository, repository_id=_repository_id(visit))
    except REQUEST_ERRORS as error:
        return _page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/container_registry")


@pages.delete("/:path/-/container_registry/:repository/tags/:tag", notice="Tag deleted.")
def delete_tag(visit: Visit) -> PageResponse:
    """Delete a tag of a container repository."""
    parent = project_context(visit)
    number = _repository_id(visit)
    try:
        parent.ask(containers_api.delete_container_tag, repository_id=number, tag_name=visit.request.path["tag"])
    except REQUEST_ERRORS as error:
        return _page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/container_registry/{number}")


def _repository_id(visit: Visit) -> str:
    number = visit.request.path["repository"]
    if number_or_none(number) is None:
        raise NotFound("Repository")
    return number


def _page(parent: ProjectContext, errors: list[str] | None = None) -> TemplateResponse:
    number, visit = _repository_id(parent.visit), parent.visit
    tags = parent.ask(
        containers_api.list_container_tags, {"page": visit.request.page, "per_page": 20}, repository_id=number
    )
    repository = visit.client.ask(
        containers_api.get_container_repository, {"size": True}, {"repository_id": number}, "registry"
    )
    context = {
        "repository": repository,
        "tags": tags,
        "may_delete": parent.may(containers_api.delete_container_repository, repository_id=number),
        "may_delete_tags": parent.may(containers_api.delete_container_tag, repository_id=number, tag_name="x"),
        "errors": errors or [],
    }
    return packages_page(parent, "packages/repository.html", "container_registry", context, 422 if errors else 200)
