"""Terraform states of a project: list, download, unlock and delete."""

from collections.abc import Callable
from typing import Any

from ingot.ci.terraform import api as terraform_api
from ingot.web.ci.sections import ci_page
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()


@pages.get("/:path/-/terraform")
def show_states(visit: Visit) -> PageResponse:
    """List the states with their latest versions and locks."""
    return _page(project_context(visit))


@pages.delete("/:path/-/terraform/:state", notice="Terraform state deleted.")
def delete_state(visit: Visit) -> PageResponse:
    """Delete a state with its versions."""
    return _act(visit, terraform_api.delete_state)


@pages.delete("/:path/-/terraform/:state/lock", notice="Terraform state unlocked.")
def unlock_state(visit: Visit) -> PageResponse:
    """Unlock a state; any lock is removed."""
    return _act(visit, terraform_api.unlock_state)


def _act(visit: Visit, endpoint: Callable[..., object]) -> PageResponse:
    parent = project_context(visit)
    try:
        parent.ask(endpoint, name=visit.request.path["state"])
    except REQUEST_ERRORS as error:
        return _page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/terraform")


def _page(parent: ProjectContext, errors: list[str] | None = None) -> TemplateResponse:
    visit = parent.visit
    url = f"/api/v4/projects/{parent.project.id}/terraform/state"
    context: dict[str, Any] = {
        "states": parent.ask(terraform_api.list_states, {"page": visit.request.page, "per_page": 30}),
        "state_url": url,
        "backend_url": f"{visit.settings.base_url}{url}/default",
        "may_change": parent.may(terraform_api.delete_state, name="default"),
        "errors": errors or [],
    }
    return ci_page(parent, "ci/terraform.html", "terraform", context, 422 if errors else 200)
