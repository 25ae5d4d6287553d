"""Environments of a project with their deployments."""

from ingot.ci.freeze_periods.status import is_frozen
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.projects.environments import api as environments_api
from ingot.projects.environments.protection.views import protected_names
from ingot.projects.environments.views import unfinished_deployment_views
from ingot.projects.projects import api as projects_api
from ingot.web.ci.sections import ci_page
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
STATES = {"available": "Available", "stopped": "Stopped"}


@pages.get("/:path/-/environments")
def show_environments(visit: Visit, db: Connection) -> PageResponse:
    """List the environments with their last deployments, and with newer ones that run or have failed."""
    parent = project_context(visit)
    state = text_field(visit.request.query, "state")
    state = state if state in STATES else "available"
    params = {"states": state, "page": visit.request.page, "per_page": 20}
    environments = parent.ask(environments_api.list_environments, params)
    rows = [
        parent.ask(environments_api.get_environment, environment_id=environment.id)
        for environment in environments.items
    ]
    project = parent.find(projects_api.get_project).project
    environment_ids = [environment.id for environment in rows]
    context = {
        "environments": environments,
        "rows": rows,
        "newest": unfinished_deployment_views(db, project, environment_ids, visit.request.origin.base),
        "state": state,
        "states": STATES,
        "frozen": is_frozen(db, project.id),
        "protected": protected_names(db, project.id, [environment.name for environment in rows]),
    }
    return ci_page(parent, "ci/environments.html", "environments", context)


@pages.get("/:path/-/environments/:environment")
def show_environment(visit: Visit, db: Connection) -> PageResponse:
    """Show an environment with its deployments, newest first."""
    return _page(project_context(visit), db)


@pages.post("/:path/-/environments/:environment/stop", notice="Environment stopped.")
def stop_environment(visit: Visit) -> PageResponse:
    """Stop an environment."""
    parent = project_context(visit)
    try:
        parent.ask(environments_api.stop_environment, environment_id=_environment_id(visit))
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _page(parent, db, errors))
    return LocalRedirect(f"{parent.url}/-/environments/{_environment_id(visit)}")


@pages.delete("/:path/-/environments/:environment", notice="Environment deleted.")
def delete_environment(visit: Visit) -> PageResponse:
    """Delete a stopped environment."""
    parent = project_context(visit)
    try:
        parent.ask(environments_api.delete_environment, environment_id=_environment_id(visit))
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _page(parent, db, errors))
    return LocalRedirect(f"{parent.url}/-/environments")


def _environment_id(visit: Visit) -> str:
    number = visit.request.path["environment"]
    if number_or_none(number) is None:
        raise NotFound("Environment")
    return number


def _page(parent: ProjectContext, db: Connection, errors: list[str] | None = None) -> TemplateResponse:
    number = _environment_id(parent.visit)
    environment = parent.ask(environments_api.get_environment, environment_id=number)
    params = {
        "environment": environment.name,
        "order_by": "id",
        "sort": "desc",
        "page": parent.visit.request.page,
        "per_page": 30,
    }
    context = {
        "environment": environment,
        "protected": protected_names(db, parent.project.id, [environment.name]),
        "deployments": parent.ask(environments_api.list_deployments, params),
        "may_stop": environment.state == "available"
        and parent.may(environments_api.stop_environment, environment_id=number),
        "may_delete": environment.state == "stopped"
        and parent.may(environments_api.delete_environment, environment_id=number),
        "errors": errors or [],
    }
    return ci_page(parent, "ci/environment.html", "environments", context, 422 if errors else 200)
