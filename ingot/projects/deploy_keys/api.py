"""Endpoints of deploy keys."""

from msgspec import UNSET

from ingot.accounts.users.api import user_by_id_or_username_in_path
from ingot.accounts.users.policy import may_see_user
from ingot.accounts.users.tables import User
from ingot.core.access.rules import administrators, require
from ingot.core.api.params import MissingParameter, path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.deploy_keys import queries, service
from ingot.projects.deploy_keys.params import CreateDeployKey, CreatePublicDeployKey, EditDeployKey, ListAllDeployKeys
from ingot.projects.deploy_keys.views import (
    DeployKeyView,
    InstanceDeployKeyView,
    deploy_key_view,
    instance_deploy_key_views,
)
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls

routes = Routes("deploy_keys")


@routes.get("/deploy_keys", may=administrators, returns=list[InstanceDeployKeyView])
def list_all_deploy_keys(call: Call, params: ListAllDeployKeys, page: Page) -> Listing[InstanceDeployKeyView]:
    """List the deploy keys of all projects."""
    listing = queries.list_all_deploy_keys(call.db, page, public=params.public)
    return listing.of(
        instance_deploy_key_views(call.db, listing.items, instance_urls(call.db, call.origin, call.settings))
    )


@routes.post("/deploy_keys", may=administrators, returns=DeployKeyView)
def create_public_deploy_key(call: Call, params: CreatePublicDeployKey) -> DeployKeyView:
    """Create a deploy key that maintainers of all projects can enable."""
    return deploy_key_view(service.create_public_deploy_key(call.db, params))


@routes.get(
    "/users/:id/project_deploy_keys",
    on=user_by_id_or_username_in_path,
    may=may_see_user,
    returns=list[DeployKeyView],
)
def list_deploy_keys_of_user(call: Call, user: User, page: Page) -> Listing[DeployKeyView]:
    """List the deploy keys of the projects that both the caller and the user administer."""
    project_ids = queries.shared_project_ids(call.db, *{call.actor.user_id, user.id})
    require(bool(project_ids), "No common authorized project found")
    listing = queries.list_deploy_keys_of_projects(call.db, project_ids, page)
    return listing.of([deploy_key_view(key) for key in listing.items])


@routes.get("/projects/:id/deploy_keys", on=project_in_path, may=may_admin_project, returns=list[DeployKeyView])
def list_deploy_keys(call: Call, project: Project, page: Page) -> Listing[DeployKeyView]:
    """List the deploy keys of a project."""
    listing = queries.list_deploy_keys(call.db, project.id, page)
    return listing.of([deploy_key_view(key) for key in listing.items])


@routes.get("/projects/:id/deploy_keys/:key_id", on=project_in_path, may=may_admin_project, returns=DeployKeyView)
def get_deploy_key(call: Call, project: Project) -> DeployKeyView:
    """Get a deploy key of a project."""
    return deploy_key_view(queries.find_deploy_key(call.db, project.id, path_number(call.path, "key_id")))


@routes.post("/projects/:id/deploy_keys", on=project_in_path, may=may_change_project, returns=DeployKeyView)
def create_deploy_key(call: Call, project: Project, params: CreateDeployKey) -> DeployKeyView:
    """Add a deploy key to a project."""
    return deploy_key_view(service.create_deploy_key(call.db, call.actor, project, params))


@routes.put("/projects/:id/deploy_keys/:key_id", on=project_in_path, may=may_change_project, returns=DeployKeyView)
def edit_deploy_key(call: Call, project: Project, params: EditDeployKey) -> DeployKeyView:
    """Change the title of a deploy key, or whether it may push to the project."""
    key_id = path_number(call.path, "key_id")
    if params.title is UNSET and params.can_push is UNSET:
        raise MissingParameter("title")
    return deploy_key_view(service.edit_deploy_key(call.db, project, key_id, params))


@routes.post(
    "/projects/:id/deploy_keys/:key_id/enable", on=project_in_path, may=may_change_project, returns=DeployKeyView
)
def enable_deploy_key(call: Call, project: Project) -> DeployKeyView:
    """Enable a deploy key of another project of the caller."""
    key_id = path_number(call.path, "key_id")
    return deploy_key_view(service.enable_deploy_key(call.db, call.actor, project, key_id))


@routes.delete("/projects/:id/deploy_keys/:key_id", on=project_in_path, may=may_change_project, returns=None)
def delete_deploy_key(call: Call, project: Project) -> None:
    """Remove a deploy key from a project."""
    service.remove_deploy_key(call.db, project.id, path_number(call.path, "key_id"))
