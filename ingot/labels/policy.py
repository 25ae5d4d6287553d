"""Who may do what with labels."""

from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_see_group
from ingot.projects.policy import may_see_project
from ingot.projects.tables import Project


class Place(NamedTuple):
    """A project whose labels are meant, and what the caller holds in it."""

    here: Access
    project: Project


def may_read_labels(actor: Actor, here: Access, place: Place) -> bool:
    """Those who see a project that has anything to label."""
    project = place.project
    return (project.issues_enabled or project.merge_requests_enabled) and may_see_project(actor, here, project)


def may_follow_labels(actor: Actor, here: Access, place: Place) -> bool:
    """Users who read them, unless the project is archived."""
    return actor.known and may_read_labels(actor, here, place) and not place.project.archived


def may_admin_labels(actor: Actor, here: Access, place: Place) -> bool:
    """Reporters, unless the project is archived or has nothing to label."""
    reporter = here.level >= Level.REPORTER or actor.admin
    return reporter and may_read_labels(actor, here, place) and not place.project.archived


def may_follow_group_labels(actor: Actor, here: Access, group: Namespace) -> bool:
    """Users who see the group."""
    return actor.known and may_see_group(actor, here, group)


def may_admin_group_labels(actor: Actor, here: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Reporters of the group."""
    return here.level >= Level.REPORTER or actor.admin
