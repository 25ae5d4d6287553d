"""Environments."""

from typing import Any
from urllib.parse import urlsplit

from ingot.core.errors import Invalid
from ingot.graphql.connections import ConnectionPage, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.projects.environments.views import EnvironmentView

resolvers = Resolvers()
_STATES = ("available", "stopping", "stopped")


@resolvers.single("Project.environments")
def list_environments(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the environments of a project."""
    params = {name: arguments.get(name) for name in ("name", "search")}
    params["states"] = _state(arguments.get("states") or [])
    return listed(context, "GET /projects/:id/environments", arguments, params, id=project.id)


def _state(states: list[str]) -> str | None:
    if not states or set(_STATES) <= set(states):
        return None
    if len(set(states)) > 1:
        raise Invalid("states takes one value")
    if states[0] not in _STATES:
        raise Invalid("Requested states are invalid")
    return states[0]


@resolvers.single("Project.environment")
def find_environment(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return an environment by its name."""
    if not arguments["name"]:  # The list would take it for no filter.
        return None
    found = context.call("GET /projects/:id/environments", {"name": arguments["name"]}, id=project.id).items
    return found[0] if found else None


@resolvers.value("Environment.id")
def environment_id(_: QueryContext, environment: EnvironmentView) -> str:
    """Return the global id."""
    return to_global_id("Environment", environment.id)


@resolvers.value("Environment.path")
def environment_path(_: QueryContext, environment: EnvironmentView) -> str:
    """Return the path of the page."""
    return f"{urlsplit(environment.project.web_url).path}/-/environments/{environment.id}"


@resolvers.value("Environment.environmentType")
def environment_folder(_: QueryContext, environment: EnvironmentView) -> str | None:
    """Return the folder in the name; null if it has none."""
    return environment.name.partition("/")[0] if "/" in environment.name else None
