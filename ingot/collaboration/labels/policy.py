"""Permissions on labels."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.policy import may_plan_in
from ingot.projects.projects.tables import Project


class LabelProjectLookup(NamedTuple):
    """A project whose labels are requested, with the caller's access to it."""

    access: Access
    project: Project


def may_read_labels(actor: Actor, access: Access, lookup: LabelProjectLookup) -> bool:
    """Users who can see a project and use its issues or merge requests."""
    return may_plan_in(actor, access, lookup.project)


def may_subscribe_to_labels(actor: Actor, access: Access, lookup: LabelProjectLookup) -> bool:
    """Users who can read the labels, unless the project is archived."""
    return actor.known and may_read_labels(actor, access, lookup) and not lookup.project.archived


def may_admin_labels(actor: Actor, access: Access, lookup: LabelProjectLookup) -> bool:
    """Reporters, unless the project is archived or has issues and merge requests disabled."""
    reporter = access.level >= Level.REPORTER or actor.admin
    return reporter and may_read_labels(actor, access, lookup) and not lookup.project.archived


def may_subscribe_to_group_labels(actor: Actor, access: Access, group: Namespace) -> bool:
    """Users who can see the group."""
    return actor.known and may_see_group(actor, access, group)


def may_admin_group_labels(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three arguments.
    """Reporters of the group."""
    return access.level >= Level.REPORTER or actor.admin
