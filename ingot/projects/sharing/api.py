"""Endpoints of project members, access requests, stars and shares with groups."""

from ingot.accounts.users.api import user_in_path
from ingot.accounts.users.policy import may_see_profile
from ingot.accounts.users.queries import user_by_username_or_none, user_or_none
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.core.access.rules import administrators, signed_in
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound, Unchanged
from ingot.core.names import NAMESPACES
from ingot.projects.groups.queries import find_group
from ingot.projects.invitations.api import invitation_routes
from ingot.projects.members.api import MemberEndpoints, member_routes, request_routes
from ingot.projects.members.params import ListMembers
from ingot.projects.members.views import MemberView, member_view
from ingot.projects.projects import policy
from ingot.projects.projects.api import project_in_path, project_page, project_response
from ingot.projects.projects.locks import project_path_by_id
from ingot.projects.projects.params import ListMemberships, ListProjects, SearchUsers, ShareProject
from ingot.projects.projects.queries import find_project, list_projects, member_source, star_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import ProjectView, SimpleProjectView
from ingot.projects.sharing import queries, service
from ingot.projects.sharing.views import (
    MembershipView,
    ShareView,
    StarrerView,
    membership_view,
    share_view,
    starrer_view,
)

routes = Routes("projects")


@routes.get(
    "/projects/:id/members/all",
    on=project_in_path,
    may=policy.may_see_project,
    returns=list[MemberView],
    cached=True,
)
def list_all_project_members(call: Call, project: Project, params: ListMembers, page: Page) -> Listing[MemberView]:
    """List the members of a project, of its groups, and of the groups that it is shared with."""
    listing = queries.list_all_members(call.db, call.actor, project, params, page)
    return listing.of([member_view(member, call.origin.base) for member in listing.items])


@routes.get("/projects/:id/members/all/:user_id", on=project_in_path, may=policy.may_see_project, returns=MemberView)
def get_any_project_member(call: Call, project: Project) -> MemberView:
    """Get a member of a project, of one of its groups, or of a group that it is shared with."""
    member = queries.find_any_member(call.db, call.actor, project, path_number(call.path, "user_id"))
    return member_view(member, call.origin.base)


@routes.get("/projects/:id/users", on=project_in_path, may=policy.may_see_project, returns=list[UserBrief], cached=True)
def list_project_users(call: Call, project: Project, params: SearchUsers, page: Page) -> Listing[UserBrief]:
    """List the users who belong to a project, directly or through a group."""
    filters = ListMembers(query=params.search)
    listing = queries.list_all_members(call.db, call.actor, project, filters, page)
    return listing.of([user_brief(member, call.origin.base) for member in listing.items])


@routes.post("/projects/:id/star", on=project_in_path, may=policy.may_star_project, returns=ProjectView)
def star_project(call: Call, project: Project) -> ProjectView:
    """Star a project; 304 if the caller has already starred it."""
    if star_or_none(call.db, call.actor.user_id, project) is not None:
        raise Unchanged
    service.star_project(call.db, call.actor.user_id, project)
    return project_response(call, project)


@routes.post("/projects/:id/unstar", on=project_in_path, may=policy.may_star_project, returns=ProjectView)
def unstar_project(call: Call, project: Project) -> ProjectView:
    """Remove the star from a project; 304 if there is none."""
    star_id = star_or_none(call.db, call.actor.user_id, project)
    if star_id is None or not service.unstar_project(call.db, star_id, project):
        raise Unchanged
    return project_response(call, project)


@routes.get("/projects/:id/starrers", on=project_in_path, may=policy.may_see_project, returns=list[StarrerView])
def list_starrers(call: Call, project: Project, params: SearchUsers, page: Page) -> Listing[StarrerView]:
    """List the users who starred a project."""
    listing = queries.list_starrers(call.db, project, params.search, page)
    return listing.of([starrer_view(starrer, call.origin.base) for starrer in listing.items])


@routes.get("/users/:user_id/starred_projects", may=signed_in, returns=list[ProjectView | SimpleProjectView])
def list_starred_projects(call: Call, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the projects starred by a user that the caller may see."""
    name = call.path["user_id"]
    user = user_or_none(call.db, name) or user_by_username_or_none(call.db, name)
    if user is None:
        raise NotFound("User")
    if not may_see_profile(call.actor, user):
        return Listing([], page, 0)
    listing = list_projects(call.db, call.actor, params, page, "starred_by", starrer=user.id)
    return project_page(call, listing, params)


@routes.get("/users/:id/memberships", on=user_in_path, may=administrators, returns=list[MembershipView])
def list_user_memberships(call: Call, user: User, params: ListMemberships, page: Page) -> Listing[MembershipView]:
    """List the groups and projects to which a user belongs."""
    kind = {"Project": "project", "Namespace": "group"}[params.type] if params.type else None
    listing = queries.list_memberships(call.db, user.id, kind, page)
    return listing.of([membership_view(membership) for membership in listing.items])


@routes.post(
    "/projects/:id/share", on=project_in_path, may=policy.may_change_project, returns=ShareView, locks=NAMESPACES
)
def share_project(call: Call, project: Project, params: ShareProject) -> ShareView:
    """Share a project with a group."""
    access, _ = find_project(call.db, call.actor, project.id)
    _, group = find_group(call.db, call.actor, params.group_id)
    share = service.share_project(call.db, call.actor, access, project, group, params.group_access, params.expires_at)
    return share_view(share)


@routes.delete(
    "/projects/:id/share/:group_id", on=project_in_path, may=policy.may_change_project, returns=None, status=204
)
def unshare_project(call: Call, project: Project) -> None:
    """Stop sharing a project with a group."""
    group_id = path_number(call.path, "group_id")
    share = queries.share_or_none(call.db, project, group_id)
    if share is not None:
        service.unshare_project(call.db, share)


_JOINED = MemberEndpoints(
    project_in_path,
    access=lambda db, actor, project: find_project(db, actor, project.id)[0],
    source=member_source,
    path_by_id=project_path_by_id,
    may_see=policy.may_see_project,
    may_leave=policy.may_join_or_leave,
    may_request=policy.may_request_access,
    may_admin=policy.may_admin_project,
    may_change=policy.may_change_project,
)
MEMBERS = member_routes(routes, _JOINED, members="/projects/:id/members", member="/projects/:id/members/:user_id")
ACCESS_REQUESTS = request_routes(
    routes,
    _JOINED,
    requests="/projects/:id/access_requests",
    request="/projects/:id/access_requests/:user_id",
    approve="/projects/:id/access_requests/:user_id/approve",
)
INVITATIONS = invitation_routes(
    routes,
    _JOINED,
    lambda project: project.full_name,
    invitations="/projects/:id/invitations",
    invitation="/projects/:id/invitations/:email",
)
