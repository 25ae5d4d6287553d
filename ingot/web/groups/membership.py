"""Membership of the current user in a project or group, and the membership actions available to them."""

from typing import NamedTuple

from ingot.core.access.levels import ROLE_NAMES
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.members.views import has_requested_access
from ingot.projects.projects import api as projects_api
from ingot.web.groups.settings_parent import access_request_endpoints, member_endpoints
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.projects.context import ProjectContext


class MembershipStatus(NamedTuple):
    """Membership of the current user in a project or group."""

    url: str
    """URL of the members page, the prefix of all membership forms."""
    kind: str
    level: str = ""
    """Access level of the direct membership, which the user can leave; empty if it is inherited from a parent group."""
    requested: bool = False
    may_request: bool = False


def membership_status(parent: ProjectOrGroupContext, db: Connection) -> MembershipStatus:
    """Return the membership status shown on the home page of a project or group."""
    status = MembershipStatus(members_url(parent), "project" if isinstance(parent, ProjectContext) else "group")
    if parent.visit.viewer.user is None:
        return status
    may_edit = parent.may(parent.either(projects_api.edit_project, group_projects_api.edit_group))
    if parent.may(access_request_endpoints(parent).request_access) and not may_edit:
        requested = has_requested(parent, db)
        return status._replace(requested=requested, may_request=not requested)
    return status._replace(level=ROLE_NAMES.get(_own_level(parent), ""))


def has_requested(parent: ProjectOrGroupContext, db: Connection) -> bool:
    """Return whether the current user has requested access."""
    user = parent.visit.viewer.user
    if user is None:
        return False
    if isinstance(parent, ProjectContext):
        return has_requested_access(db, "project", parent.project.id, user.id)
    return has_requested_access(db, "group", parent.group.id, user.id)


def members_url(parent: ProjectOrGroupContext) -> str:
    """Return the URL of the members page."""
    return f"{parent.url}/-/{'project_members' if isinstance(parent, ProjectContext) else 'group_members'}"


def _own_level(parent: ProjectOrGroupContext) -> int:
    """Return the direct access level; 0 if the user cannot leave, because the project is archived or their own."""
    user = parent.visit.viewer.signed_in
    if isinstance(parent, ProjectContext):
        membership = parent.project.permissions.project_access if parent.project.permissions else None
        cannot_leave = parent.project.archived or parent.project.namespace.full_path == user.username
        return membership.access_level if membership and not cannot_leave else 0
    try:
        level = parent.ask(member_endpoints(parent).get_member, user_id=user.id).access_level
    except NotFound:
        return 0
    return level
