"""Permissions on Terraform states."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.policy import may_change_project
from ingot.projects.projects.tables import Project


def may_read_states(actor: Actor, access: Access, project: Project) -> bool:
    """Developers and above, and the jobs that they start, unless the feature is disabled."""
    has_level = access.level >= Level.DEVELOPER or actor.admin
    return has_level and may_use_feature(actor, access, project, "infrastructure")


def may_change_states(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers and above, unless the feature is disabled or the project is archived."""
    return may_read_states(actor, access, project) and may_change_project(actor, access, project)
