"""Endpoints of deploy tokens."""

from ingot.core.access.rules import administrators
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.deploy_tokens import policy, queries, service
from ingot.projects.deploy_tokens.params import CreateDeployToken, ListDeployTokens
from ingot.projects.deploy_tokens.views import DeployTokenView, deploy_token_view
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.members.queries import MemberSource
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.parents import ProjectOrGroup, member_source
from ingot.projects.projects.policy import may_admin_project, may_change_project

routes = Routes("deploy_tokens")


def _list(call: Call, source: MemberSource | None, params: ListDeployTokens, page: Page) -> Listing[DeployTokenView]:
    listing = queries.list_deploy_tokens(call.db, source, params, page)
    return listing.of([deploy_token_view(token, call.db.now) for token in listing.items])


@routes.get("/deploy_tokens", may=administrators, returns=list[DeployTokenView])
def list_all_deploy_tokens(call: Call, params: ListDeployTokens, page: Page) -> Listing[DeployTokenView]:
    """List all deploy tokens."""
    return _list(call, None, params, page)


@routes.get(
    "/groups/:id/deploy_tokens", on=group_in_path, may=policy.may_read_group_tokens, returns=list[DeployTokenView]
)
@routes.get("/projects/:id/deploy_tokens", on=project_in_path, may=may_admin_project, returns=list[DeployTokenView])
def list_deploy_tokens(
    call: Call, owner: ProjectOrGroup, params: ListDeployTokens, page: Page
) -> Listing[DeployTokenView]:
    """List the deploy tokens of a project or group."""
    return _list(call, member_source(owner), params, page)


@routes.get(
    "/groups/:id/deploy_tokens/:token_id", on=group_in_path, may=policy.may_read_group_tokens, returns=DeployTokenView
)
@routes.get("/projects/:id/deploy_tokens/:token_id", on=project_in_path, may=may_admin_project, returns=DeployTokenView)
def get_deploy_token(call: Call, owner: ProjectOrGroup) -> DeployTokenView:
    """Get a deploy token of a project or group, without its secret."""
    token = queries.find_deploy_token(call.db, member_source(owner), path_number(call.path, "token_id"))
    return deploy_token_view(token, call.db.now)


@routes.post("/groups/:id/deploy_tokens", on=group_in_path, may=may_admin_group, returns=DeployTokenView)
@routes.post("/projects/:id/deploy_tokens", on=project_in_path, may=may_change_project, returns=DeployTokenView)
def create_deploy_token(call: Call, owner: ProjectOrGroup, params: CreateDeployToken) -> DeployTokenView:
    """Create a deploy token of a project or group."""
    token, secret = service.create_deploy_token(call.db, call.actor, member_source(owner), params)
    return deploy_token_view(token, call.db.now, secret)


@routes.delete(
    "/groups/:id/deploy_tokens/:token_id", on=group_in_path, may=may_admin_group, returns=None, on_scheduled=True
)
@routes.delete("/projects/:id/deploy_tokens/:token_id", on=project_in_path, may=may_change_project, returns=None)
def delete_deploy_token(call: Call, owner: ProjectOrGroup) -> None:
    """Delete a deploy token of a project or group."""
    token = queries.deploy_token_or_none(call.db, member_source(owner), path_number(call.path, "token_id"))
    if token is not None:
        service.delete_deploy_token(call.db, token)
