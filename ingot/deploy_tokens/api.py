"""Deploy tokens over the API."""

from ingot.access.rules import administrators
from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.deploy_tokens import policy, queries, service
from ingot.deploy_tokens.params import CreateDeployToken, ListDeployTokens
from ingot.deploy_tokens.views import DeployTokenView, deploy_token_view
from ingot.groups.api import group_in_path
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_admin_group
from ingot.groups.queries import source_of as source_of_group
from ingot.projects.api import project_in_path
from ingot.projects.policy import may_admin_project, may_change_project
from ingot.projects.queries import source_of as source_of_project
from ingot.projects.tables import Project

routes = Routes("deploy_tokens")


def _list(call: Call, source: Source | None, params: ListDeployTokens, page: Page) -> Listing[DeployTokenView]:
    found = queries.list_deploy_tokens(call.db, source, params, page)
    return found.of([deploy_token_view(token, call.db.now) for token in found.items])


def _get(call: Call, source: Source) -> DeployTokenView:
    token = queries.find_deploy_token(call.db, source, path_number(call.path, "token_id"))
    return deploy_token_view(token, call.db.now)


def _create(call: Call, source: Source, params: CreateDeployToken) -> DeployTokenView:
    token, secret = service.create_deploy_token(call.db, call.actor, source, params)
    return deploy_token_view(token, call.db.now, secret)


def _delete(call: Call, source: Source) -> None:
    token = queries.deploy_token_or_none(call.db, source, path_number(call.path, "token_id"))
    if token is not None:
        service.delete_deploy_token(call.db, token)


@routes.get("/deploy_tokens", may=administrators, returns=list[DeployTokenView])
def list_deploy_tokens(call: Call, params: ListDeployTokens, page: Page) -> Listing[DeployTokenView]:
    """List all deploy tokens."""
    return _list(call, None, params, page)


@routes.get("/projects/:id/deploy_tokens", on=project_in_path, may=may_admin_project, returns=list[DeployTokenView])
def list_project_deploy_tokens(
    call: Call, project: Project, params: ListDeployTokens, page: Page
) -> Listing[DeployTokenView]:
    """List the deploy tokens of a project."""
    return _list(call, source_of_project(project), params, page)


@routes.get("/projects/:id/deploy_tokens/:token_id", on=project_in_path, may=may_admin_project, returns=DeployTokenView)
def get_project_deploy_token(call: Call, project: Project) -> DeployTokenView:
    """Get a deploy token of a project; its secret was shown once, when it was made."""
    return _get(call, source_of_project(project))


@routes.post(
    "/projects/:id/deploy_tokens",
    on=project_in_path,
    may=may_change_project,
    returns=DeployTokenView,
)
def create_project_deploy_token(call: Call, project: Project, params: CreateDeployToken) -> DeployTokenView:
    """Create a deploy token of a project."""
    return _create(call, source_of_project(project), params)


@routes.delete(
    "/projects/:id/deploy_tokens/:token_id",
    on=project_in_path,
    may=may_change_project,
    returns=None,
)
def delete_project_deploy_token(call: Call, project: Project) -> None:
    """Delete a deploy token of a project."""
    _delete(call, source_of_project(project))


@routes.get(
    "/groups/:id/deploy_tokens", on=group_in_path, may=policy.may_read_group_tokens, returns=list[DeployTokenView]
)
def list_group_deploy_tokens(
    call: Call, group: Namespace, params: ListDeployTokens, page: Page
) -> Listing[DeployTokenView]:
    """List the deploy tokens of a group."""
    return _list(call, source_of_group(group), params, page)


@routes.get(
    "/groups/:id/deploy_tokens/:token_id", on=group_in_path, may=policy.may_read_group_tokens, returns=DeployTokenView
)
def get_group_deploy_token(call: Call, group: Namespace) -> DeployTokenView:
    """Get a deploy token of a group; its secret was shown once, when it was made."""
    return _get(call, source_of_group(group))


@routes.post("/groups/:id/deploy_tokens", on=group_in_path, may=may_admin_group, returns=DeployTokenView)
def create_group_deploy_token(call: Call, group: Namespace, params: CreateDeployToken) -> DeployTokenView:
    """Create a deploy token of a group."""
    return _create(call, source_of_group(group), params)


@routes.delete("/groups/:id/deploy_tokens/:token_id", on=group_in_path, may=may_admin_group, returns=None)
def delete_group_deploy_token(call: Call, group: Namespace) -> None:
    """Delete a deploy token of a group."""
    _delete(call, source_of_group(group))
