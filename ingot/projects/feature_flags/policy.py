"""Permissions on feature flags."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_write_project
from ingot.projects.projects.tables import Project


def may_read_feature_flags(actor: Actor, access: Access, project: Project) -> bool:
    """Developers and above, unless feature flags are disabled."""
    has_level = access.level >= Level.DEVELOPER or actor.admin
    return has_level and may_use_feature(actor, access, project, "feature_flags")


def may_change_feature_flags(actor: Actor, access: Access, project: Project) -> bool:
    """Developers and above, unless feature flags are disabled or the project is archived."""
    return may_read_feature_flags(actor, access, project) and may_write_project(actor, access, project)
