"""Whether a visitor belongs to a project or group, and what they may do about it."""

from typing import NamedTuple

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.projects.groups.queries import find_group
from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.members.queries import request_or_none
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.queries import member_source as source_of_project
from ingot.web.groups.settings_parent import ProjectOrGroupContext
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
    if parent.visit.user is None:
        return plain
    if parent.may("POST", "/access_requests") and not parent.may("PUT", ""):
        asked = has_requested_access(parent, db)
        return plain._replace(asked=asked, may_ask=not asked)
    return plain._replace(level=LEVEL_NAMES.get(_own_level(parent), ""))


def has_requested_access(parent: ProjectOrGroupContext, db: Connection) -> bool:
    """Whether the visitor waits to be let in."""
    if parent.visit.user is None:
        return False
    if isinstance(parent, ProjectContext):
        source = source_of_project(find_project(db, parent.visit.actor, parent.project.id)[1])
    else:
        source = source_of_group(find_group(db, parent.visit.actor, parent.group.id)[1])
    return request_or_none(db, source, parent.visit.user.id) is not None


def members_url(parent: ProjectOrGroupContext) -> str:
    """Where its members are."""
    return f"{parent.url}/-/{'project_members' if isinstance(parent, ProjectContext) else 'group_members'}"


def _own_level(parent: ProjectOrGroupContext) -> int:
    """What they hold here by themselves; nobody leaves what lies in their own namespace, or what is archived."""
    user = parent.visit.signed_in
    if isinstance(parent, ProjectContext):
        held = parent.project.permissions.project_access if parent.project.permissions else None
        stays = parent.project.archived or parent.project.namespace.full_path == user.username
        return held.access_level if held and not stays else 0
    try:
        level: int = parent.get("/members/:user_id", user_id=user.id).access_level
    except NotFound:
        return 0
    return level
