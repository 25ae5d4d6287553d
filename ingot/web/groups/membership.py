"""Whether a visitor belongs to a project or group, and what they may do about it."""

from typing import NamedTuple

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.members.views import has_requested_access
from ingot.projects.projects import api as projects_api
from ingot.web.groups.settings_parent import ProjectOrGroupContext, access_request_endpoints, member_endpoints
from ingot.web.projects.context import ProjectContext

LEVEL_NAMES = {10: "Guest", 20: "Reporter", 30: "Developer", 40: "Maintainer", 50: "Owner"}


class MembershipStatus(NamedTuple):
    """How a visitor belongs to something."""

    url: str
    """Where members are, below which all forms of this lead."""
    what: str
    level: str = ""
    """As what they may leave; who belongs by a group around leaves that."""
    asked: bool = False
    may_ask: bool = False


def membership_status(parent: ProjectOrGroupContext, db: Connection) -> MembershipStatus:
    """The same for the home of a project or group."""
    plain = MembershipStatus(members_url(parent), "project" if isinstance(parent, ProjectContext) else "group")
    if parent.visit.viewer.user is None:
        return plain
    edits = parent.may(parent.either(projects_api.edit_project, group_projects_api.edit_group))
    if parent.may(access_request_endpoints(parent).request_access) and not edits:
        asked = has_asked(parent, db)
        return plain._replace(asked=asked, may_ask=not asked)
    return plain._replace(level=LEVEL_NAMES.get(_own_level(parent), ""))


def has_asked(parent: ProjectOrGroupContext, db: Connection) -> bool:
    """Return whether the visitor has asked for access."""
    user = parent.visit.viewer.user
    if user is None:
        return False
    if isinstance(parent, ProjectContext):
        return has_requested_access(db, "project", parent.project.id, user.id)
    return has_requested_access(db, "group", parent.group.id, user.id)


def members_url(parent: ProjectOrGroupContext) -> str:
    """Where its members are."""
    return f"{parent.url}/-/{'project_members' if isinstance(parent, ProjectContext) else 'group_members'}"


def _own_level(parent: ProjectOrGroupContext) -> int:
    """What they hold here by themselves; nobody leaves what lies in their own namespace, or what is archived."""
    user = parent.visit.viewer.signed_in
    if isinstance(parent, ProjectContext):
        held = parent.project.permissions.project_access if parent.project.permissions else None
        stays = parent.project.archived or parent.project.namespace.full_path == user.username
        return held.access_level if held and not stays else 0
    try:
        level = parent.ask(member_endpoints(parent).get_member, user_id=user.id).access_level
    except NotFound:
        return 0
    return level
