"""Permissions on freeze periods; none if environments are disabled, which are what a freeze protects."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.environments.policy import may_change_environments, may_read_environments
from ingot.projects.projects.tables import Project


def may_read_freeze_periods(actor: Actor, access: Access, project: Project) -> bool:
    """Reporters and above, who may read the environments."""
    return may_read_environments(actor, access, project)


def may_change_freeze_periods(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers and above, who may change the environments, unless the project is archived."""
    return may_change_environments(actor, access, project)
