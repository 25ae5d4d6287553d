"""Creation of the demo group through the domain services."""

from ingot.accounts.users.queries import users_by_usernames
from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.maintenance.demo.users import DEMO_USERS
from ingot.maintenance.demo.work_items import GROUP, GROUP_NAME
from ingot.projects.groups.params import CreateGroup
from ingot.projects.groups.queries import member_source as source_of_group
from ingot.projects.groups.service import create_group
from ingot.projects.members.service import write_membership
from ingot.projects.namespaces.queries import namespace_by_path
from ingot.projects.namespaces.tables import Namespace

REPORTERS = ("lior.abendstern", "kaito.minamoto")
_LEVELS = dict.fromkeys(REPORTERS, Level.REPORTER)


def demo_group_exists(db: Connection) -> bool:
    """Check whether the group, or another namespace with its path, exists."""
    return namespace_by_path(db, GROUP) is not None


def add_demo_group(db: Connection) -> None:
    """Add the group with the demo users as its members."""
    actors = demo_actors(db)
    owner = actors[DEMO_USERS[0].username]
    group = create_group(db, owner, CreateGroup(name=GROUP_NAME, path=GROUP, visibility="public"), None)
    for name, actor in actors.items():
        if actor is not owner:
            write_membership(db, source_of_group(group), actor.user_id, _LEVELS.get(name, Level.DEVELOPER))


def demo_actors(db: Connection) -> dict[str, Actor]:
    """Return the demo users as actors, by username."""
    usernames = [user.username for user in DEMO_USERS]
    return {name: _actor(user) for name, user in users_by_usernames(db, usernames).items()}


def demo_group(db: Connection) -> Namespace:
    """Return the demo group."""
    group = namespace_by_path(db, GROUP)
    if group is None:
        raise NotFound("Group")
    return group


def _actor(user: User) -> Actor:
    return Actor(user.id, user.username, user.name, admin=user.admin, external=user.external)
