"""The people of a project over the API: members, requests, starrers, and who shares it."""

from ingot.access.levels import Access
from ingot.access.rules import administrators, require, signed_in
from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.errors import NotFound, Unchanged
from ingot.groups.members import queries as members
from ingot.groups.members import service as membership
from ingot.groups.members.params import AddMember, ApproveRequest, EditMember, ListMembers
from ingot.groups.members.views import MemberView, RequesterView, member_view, requester_view
from ingot.groups.queries import find_group
from ingot.names import NAMESPACES
from ingot.projects import policy
from ingot.projects.api import listed, project_in_path, shown
from ingot.projects.params import ListMemberships, ListProjects, SearchUsers, ShareProject
from ingot.projects.people import queries, service
from ingot.projects.people.views import (
    MembershipView,
    ShareView,
    StarrerView,
    membership_view,
    share_view,
    starrer_view,
)
from ingot.projects.queries import find_project, list_projects, source_of, star_or_none
from ingot.projects.tables import Project
from ingot.projects.views import ProjectView, SimpleProjectView
from ingot.users.accounts.api import user_in_path
from ingot.users.accounts.queries import user_by_username, user_or_none
from ingot.users.accounts.tables import User
from ingot.users.accounts.views import UserBrief, user_brief

routes = Routes("projects")


@routes.get("/projects/:id/members", on=project_in_path, may=policy.may_see_project, returns=list[MemberView])
def list_project_members(call: Call, project: Project, params: ListMembers, page: Page) -> Listing[MemberView]:
    """List the members of a project."""
    found = members.list_members(call.db, source_of(project), params, page)
    return found.of([member_view(member, call.origin.base) for member in found.items])


@routes.get("/projects/:id/members/all", on=project_in_path, may=policy.may_see_project, returns=list[MemberView])
def list_all_project_members(call: Call, project: Project, params: ListMembers, page: Page) -> Listing[MemberView]:
    """List the members of a project, of the groups around it, and of those with which it is shared."""
    found = queries.list_everybody(call.db, call.actor, project, params, page)
    return found.of([member_view(member, call.origin.base) for member in found.items])


@routes.get("/projects/:id/members/:user_id", on=project_in_path, may=policy.may_see_project, returns=MemberView)
def get_project_member(call: Call, project: Project) -> MemberView:
    """Get a member of a project."""
    user_id = path_number(call.path, "user_id")
    return member_view(members.find_member(call.db, source_of(project), user_id), call.origin.base)


@routes.get("/projects/:id/members/all/:user_id", on=project_in_path, may=policy.may_see_project, returns=MemberView)
def get_any_project_member(call: Call, project: Project) -> MemberView:
    """Get a member of a project, of a group around it, or of one with which it is shared."""
    found = queries.find_anybody(call.db, call.actor, project, path_number(call.path, "user_id"))
    return member_view(found, call.origin.base)


@routes.post(
    "/projects/:id/members", on=project_in_path, may=policy.may_change_project, returns=MemberView, locks=NAMESPACES
)
def add_project_member(call: Call, project: Project, params: AddMember) -> MemberView:
    """Add a member to a project."""
    here, source = _here(call, project)
    membership.add_member(call.db, call.actor, here, source, params.user_id, params.access_level, params.expires_at)
    return member_view(members.find_put_member(call.db, source, params.user_id), call.origin.base)


@routes.put(
    "/projects/:id/members/:user_id",
    on=project_in_path,
    may=policy.may_change_project,
    returns=MemberView,
    locks=NAMESPACES,
)
def edit_project_member(call: Call, project: Project, params: EditMember) -> MemberView:
    """Change a member of a project."""
    here, source = _here(call, project)
    user_id = path_number(call.path, "user_id")
    membership.edit_member(call.db, call.actor, here, source, user_id, params.access_level, params.expires_at)
    return member_view(members.find_put_member(call.db, source, user_id), call.origin.base)


@routes.delete(
    "/projects/:id/members/:user_id", on=project_in_path, may=policy.may_join_or_leave, returns=None, locks=NAMESPACES
)
def remove_project_member(call: Call, project: Project) -> None:
    """Remove a member from a project; everybody may leave."""
    here, source = _here(call, project)
    user_id = path_number(call.path, "user_id")
    require(user_id == call.actor.user_id or policy.may_admin_project(call.actor, here, project))
    if members.membership_or_none(call.db, source, user_id) is not None:
        membership.remove_member(call.db, call.actor, here, source, user_id)


@routes.get(
    "/projects/:id/access_requests", on=project_in_path, may=policy.may_admin_project, returns=list[RequesterView]
)
def list_project_access_requests(call: Call, project: Project, page: Page) -> Listing[RequesterView]:
    """List who would like to belong to a project."""
    found = members.list_requesters(call.db, source_of(project), page)
    return found.of([requester_view(requester, call.origin.base) for requester in found.items])


@routes.post(
    "/projects/:id/access_requests",
    on=project_in_path,
    may=policy.may_request_access,
    returns=RequesterView,
    locks=NAMESPACES,
)
def request_project_access(call: Call, project: Project) -> RequesterView:
    """Ask to belong to a project."""
    source = source_of(project)
    membership.request_access(call.db, call.actor, source)
    return requester_view(members.find_requester(call.db, source, call.actor.user_id), call.origin.base)


@routes.put(
    "/projects/:id/access_requests/:user_id/approve",
    on=project_in_path,
    may=policy.may_change_project,
    returns=MemberView,
    status=201,
    locks=NAMESPACES,
)
def approve_project_access(call: Call, project: Project, params: ApproveRequest) -> MemberView:
    """Let somebody belong who asked."""
    here, source = _here(call, project)
    user_id = path_number(call.path, "user_id")
    membership.approve_request(call.db, call.actor, here, source, user_id, params.access_level)
    return member_view(members.find_put_member(call.db, source, user_id), call.origin.base)


@routes.delete("/projects/:id/access_requests/:user_id", on=project_in_path, may=policy.may_join_or_leave, returns=None)
def deny_project_access(call: Call, project: Project) -> None:
    """Deny a request, or take one's own back."""
    here, source = _here(call, project)
    user_id = path_number(call.path, "user_id")
    require(user_id == call.actor.user_id or policy.may_admin_project(call.actor, here, project))
    if members.request_or_none(call.db, source, user_id) is not None:
        membership.drop_request(call.db, source, user_id)


@routes.get("/projects/:id/users", on=project_in_path, may=policy.may_see_project, returns=list[UserBrief])
def list_project_users(call: Call, project: Project, params: SearchUsers, page: Page) -> Listing[UserBrief]:
    """List everybody who belongs to a project, directly or by a group."""
    wanted = ListMembers(query=params.search)
    found = queries.list_everybody(call.db, call.actor, project, wanted, page)
    return found.of([user_brief(member, call.origin.base) for member in found.items])


@routes.post("/projects/:id/star", on=project_in_path, may=policy.may_star_project, returns=ProjectView)
def star_project(call: Call, project: Project) -> ProjectView:
    """Star a project; 304 where the caller did already."""
    if star_or_none(call.db, call.actor.user_id, project) is not None:
        raise Unchanged
    service.star_project(call.db, call.actor.user_id, project)
    return shown(call, project)


@routes.post("/projects/:id/unstar", on=project_in_path, may=policy.may_star_project, returns=ProjectView)
def unstar_project(call: Call, project: Project) -> ProjectView:
    """Take a star back; 304 where there is none."""
    star_id = star_or_none(call.db, call.actor.user_id, project)
    if star_id is None or not service.unstar_project(call.db, star_id, project):
        raise Unchanged
    return shown(call, project)


@routes.get("/projects/:id/starrers", on=project_in_path, may=policy.may_see_project, returns=list[StarrerView])
def list_starrers(call: Call, project: Project, params: SearchUsers, page: Page) -> Listing[StarrerView]:
    """List who starred a project."""
    found = queries.list_starrers(call.db, project, params.search, page)
    return found.of([starrer_view(starrer, call.origin.base) for starrer in found.items])


@routes.get("/users/:user_id/starred_projects", may=signed_in, returns=list[ProjectView | SimpleProjectView])
def list_starred_projects(call: Call, params: ListProjects, page: Page) -> Listing[SimpleProjectView]:
    """List the projects that a user starred, of those that the caller may see."""
    name = call.path["user_id"]
    user = user_or_none(call.db, name) or user_by_username(call.db, name)
    if user is None:
        raise NotFound("User")
    found = list_projects(call.db, call.actor, params, page, "starred_by", starrer=user.id)
    return listed(call, found, params)


@routes.get("/users/:id/memberships", on=user_in_path, may=administrators, returns=list[MembershipView])
def list_user_memberships(call: Call, user: User, params: ListMemberships, page: Page) -> Listing[MembershipView]:
    """List the groups and projects to which a user belongs."""
    kind = {"Project": "project", "Namespace": "group"}[params.type] if params.type else None
    found = queries.list_memberships(call.db, user.id, kind, page)
    return found.of([membership_view(membership) for membership in found.items])


@routes.post(
    "/projects/:id/share", on=project_in_path, may=policy.may_change_project, returns=ShareView, locks=NAMESPACES
)
def share_project(call: Call, project: Project, params: ShareProject) -> ShareView:
    """Share a project with a group."""
    here, _ = find_project(call.db, call.actor, project.id)
    _, group = find_group(call.db, call.actor, params.group_id)
    share = service.share_project(call.db, call.actor, here, project, group, params.group_access, params.expires_at)
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


def _here(call: Call, project: Project) -> tuple[Access, members.Source]:
    here, _ = find_project(call.db, call.actor, project.id)
    return here, source_of(project)
