"""Permissions on feature flags."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.policy import may_write_project
from ingot.projects.projects.tables import Project


def may_read_feature_flags(actor: Actor, access: Access, project: Project) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Developers and above."""
    return access.level >= Level.DEVELOPER or actor.admin


def may_change_feature_flags(actor: Actor, access: Access, project: Project) -> bool:
    """Developers and above, unless the project is archived."""
    return may_write_project(actor, access, project)
