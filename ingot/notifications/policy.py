"""Who may say what they want to be told."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.projects.policy import may_see_project
from ingot.projects.tables import Project


def may_wish_of_group(actor: Actor, here: Access, group: Namespace) -> bool:
    """Users who see the group."""
    return actor.known and may_see_group(actor, here, group)


def may_wish_of_project(actor: Actor, here: Access, project: Project) -> bool:
    """Users who see the project."""
    return actor.known and may_see_project(actor, here, project)
