"""Whether a visitor belongs to a project or group, and what they may do about it."""

from typing import NamedTuple

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.groups.members.queries import request_or_none
from ingot.groups.queries import find_group
from ingot.groups.queries import source_of as source_of_group
from ingot.projects.queries import find_project
from ingot.projects.queries import source_of as source_of_project
from ingot.web.groups.place import Ground
from ingot.web.projects.place import Place

LEVELS = {10: "Guest", 20: "Reporter", 30: "Developer", 40: "Maintainer", 50: "Owner"}


class Belonging(NamedTuple):
    """How a visitor belongs to something."""

    url: str
    """Where members are, below which all forms of this lead."""
    what: str
    level: str = ""
    """As what they may leave; who belongs by a group around leaves that."""
    asked: bool = False
    may_ask: bool = False


def belonging(ground: Ground, db: Connection) -> Belonging:
    """The same for the home of a project or group."""
    plain = Belonging(members_url(ground), "project" if isinstance(ground, Place) else "group")
    if ground.visit.user is None:
        return plain
    if ground.may("POST", "/access_requests") and not ground.may("PUT", ""):
        asked = has_asked(ground, db)
        return plain._replace(asked=asked, may_ask=not asked)
    return plain._replace(level=LEVELS.get(_own_level(ground), ""))


def has_asked(ground: Ground, db: Connection) -> bool:
    """Whether the visitor waits to be let in."""
    if ground.visit.user is None:
        return False
    if isinstance(ground, Place):
        source = source_of_project(find_project(db, ground.visit.actor, ground.project.id)[1])
    else:
        source = source_of_group(find_group(db, ground.visit.actor, ground.group.id)[1])
    return request_or_none(db, source, ground.visit.user.id) is not None


def members_url(ground: Ground) -> str:
    """Where its members are."""
    return f"{ground.url}/-/{'project_members' if isinstance(ground, Place) else 'group_members'}"


def _own_level(ground: Ground) -> int:
    """What they hold here by themselves; nobody leaves what lies in their own namespace, or what is archived."""
    user = ground.visit.signed_in
    if isinstance(ground, Place):
        held = ground.project.permissions.project_access if ground.project.permissions else None
        stays = ground.project.archived or ground.project.namespace.full_path == user.username
        return held.access_level if held and not stays else 0
    try:
        level: int = ground.get("/members/:user_id", user_id=user.id).access_level
    except NotFound:
        return 0
    return level
