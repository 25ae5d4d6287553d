"""List of forks and the form to fork a project."""

from typing import Any

from ingot.projects.forks import api as forks_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.forms import nonempty_values
from ingot.web.projects.namespaces import find_typed_namespace, namespace_options

pages = PageRoutes()
_FIELDS = ("namespace", "name", "path", "visibility")


@pages.get("/:path/-/forks", open=True)
def show_forks(visit: Visit) -> PageResponse:
    """List the forks that the user has permission to see."""
    parent = project_context(visit)
    forks = parent.ask(forks_api.list_forks, {"page": str(visit.request.query.get("page", "1"))})
    return parent.page("projects/forks.html", "home", {"forks": forks, "may_fork": parent.may(forks_api.fork_project)})


@pages.get("/:path/-/forks/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form to fork a project."""
    parent = project_context(visit)
    typed = dict.fromkeys(_FIELDS, "") | {"name": parent.project.name, "path": parent.project.path}
    return _fork_form(parent, typed)


@pages.post("/:path/-/forks", notice="Project forked.")
def fork_project(visit: Visit) -> PageResponse:
    """Start a job that forks the project and redirect to the fork, which shows the progress."""
    parent = project_context(visit)
    typed = {name: str(visit.request.form.get(name, "")) for name in _FIELDS}
    try:
        params = nonempty_values(typed)
        if typed["namespace"]:
            params["namespace"] = find_typed_namespace(visit, typed["namespace"]).full_path
        fork = parent.ask(forks_api.fork_project, {**params, "by_job": "true"})
    except REQUEST_ERRORS as error:
        return _fork_form(parent, typed, error_messages(error), 422)
    return LocalRedirect(f"/{fork.path_with_namespace}")


def _fork_form(
    parent: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context: dict[str, Any] = {
        "typed": typed,
        "errors": errors or [],
        "options": namespace_options(parent.visit),
        "may_fork": parent.may(forks_api.fork_project),
    }
    return parent.page("projects/fork.html", "home", context, status)
