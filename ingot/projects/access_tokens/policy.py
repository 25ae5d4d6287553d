"""Permissions on project and group access tokens."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.projects.parents import ProjectOrGroup
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project


def may_read_access_tokens(actor: Actor, access: Access, owner: ProjectOrGroup) -> bool:
    """Maintainers of a project, owners of a group, and administrators."""
    if isinstance(owner, Project):
        return may_admin_project(actor, access, owner)
    return may_admin_group(actor, access, owner)


def may_manage_access_tokens(actor: Actor, access: Access, owner: ProjectOrGroup) -> bool:
    """Maintainers of a project that is not archived, owners of a group, and administrators; no bots.

    A bot that could create tokens would have access for longer than its own token.
    """
    if actor.bot:
        return False
    if isinstance(owner, Project):
        return may_change_project(actor, access, owner)
    return may_admin_group(actor, access, owner)


def may_use_level(actor: Actor, access: Access, level: int) -> bool:
    """Callers with at least the level that a token has or gets, and administrators."""
    return actor.admin or level <= access.level
