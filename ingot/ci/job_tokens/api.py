"""Endpoints of the scope of job tokens: the projects and groups whose jobs may access a project."""

from ingot.ci.job_tokens import policy, queries, service
from ingot.ci.job_tokens.params import AllowGroup, AllowProject, EditJobTokenScope
from ingot.ci.job_tokens.views import AllowedGroupView, AllowedProjectView, JobTokenScopeView
from ingot.ci.pipelines.queries import settings_of
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.projects.groups.params import ListGroups
from ingot.projects.groups.queries import find_group, list_groups
from ingot.projects.groups.views import GroupBrief, group_brief
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.params import ListProjects
from ingot.projects.projects.queries import find_project, list_projects
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import SimpleProjectView, instance_urls, simple_view

routes = Routes("job_token_scope")


@routes.get(
    "/projects/:id/job_token_scope", on=project_in_path, may=policy.may_read_token_scope, returns=JobTokenScopeView
)
def get_job_token_scope(call: Call, project: Project) -> JobTokenScopeView:
    """Get whether the access of other projects' job tokens is limited."""
    return JobTokenScopeView(settings_of(call.db, project.id).job_token_scope_enabled, outbound_enabled=False)


@routes.patch(
    "/projects/:id/job_token_scope",
    on=project_in_path,
    may=policy.may_change_token_scope,
    returns=None,
    status=204,
)
def edit_job_token_scope(call: Call, project: Project, params: EditJobTokenScope) -> None:
    """Limit the access of other projects' job tokens, or allow it to all projects."""
    service.set_scope_enabled(call.db, project, params.enabled)


@routes.get(
    "/projects/:id/job_token_scope/allowlist",
    on=project_in_path,
    may=policy.may_read_token_scope,
    returns=list[SimpleProjectView],
)
def list_allowed_projects(call: Call, project: Project, page: Page) -> Listing[SimpleProjectView]:
    """List the projects whose job tokens have access."""
    ids = queries.allowed_project_ids(call.db, project.id)
    order = ListProjects(order_by="id", sort="asc")
    listing = list_projects(call.db, call.actor, order, page, "chosen", chosen=ids)
    urls = instance_urls(call.db, call.origin, call.settings)
    return listing.of([simple_view(each, urls) for each in listing.items])


@routes.post(
    "/projects/:id/job_token_scope/allowlist",
    on=project_in_path,
    may=policy.may_change_token_scope,
    returns=AllowedProjectView,
)
def allow_project(call: Call, project: Project, params: AllowProject) -> AllowedProjectView:
    """Give the job tokens of another project access."""
    try:
        _, target = find_project(call.db, call.actor, params.target_project_id)
    except NotFound:
        raise NotFound("target_project_id not found") from None
    service.allow_project(call.db, project, target)
    return AllowedProjectView(project.id, target.id)


@routes.delete(
    "/projects/:id/job_token_scope/allowlist/:target_project_id",
    on=project_in_path,
    may=policy.may_change_token_scope,
    returns=None,
    status=204,
)
def disallow_project(call: Call, project: Project) -> None:
    """Withdraw the access of another project's job tokens."""
    service.disallow_project(call.db, project, path_number(call.path, "target_project_id"))


@routes.get(
    "/projects/:id/job_token_scope/groups_allowlist",
    on=project_in_path,
    may=policy.may_read_token_scope,
    returns=list[GroupBrief],
)
def list_allowed_groups(call: Call, project: Project, page: Page) -> Listing[GroupBrief]:
    """List the groups whose projects' job tokens have access."""
    ids = queries.allowed_group_ids(call.db, project.id)
    listing = list_groups(call.db, call.actor, ListGroups(order_by="id"), page, among=ids)
    return listing.of([group_brief(group, call.origin.base) for group in listing.items])


@routes.post(
    "/projects/:id/job_token_scope/groups_allowlist",
    on=project_in_path,
    may=policy.may_change_token_scope,
    returns=AllowedGroupView,
)
def allow_group(call: Call, project: Project, params: AllowGroup) -> AllowedGroupView:
    """Give the job tokens of a group's projects access."""
    try:
        _, group = find_group(call.db, call.actor, params.target_group_id)
    except NotFound:
        raise NotFound("target_group_id not found") from None
    service.allow_group(call.db, project, group)
    return AllowedGroupView(project.id, group.id)


@routes.delete(
    "/projects/:id/job_token_scope/groups_allowlist/:target_group_id",
    on=project_in_path,
    may=policy.may_change_token_scope,
    returns=None,
    status=204,
)
def disallow_group(call: Call, project: Project) -> None:
    """Withdraw the access of the job tokens of a group's projects."""
    service.disallow_group(call.db, project, path_number(call.path, "target_group_id"))
