"""Permissions on pipeline triggers; none if the project has no pipelines."""

from ingot.ci.triggers.tables import Trigger
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project


def may_read_triggers(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers."""
    return may_admin_project(actor, access, project) and project.jobs_enabled


def may_change_triggers(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, unless the project is archived."""
    return may_change_project(actor, access, project) and project.jobs_enabled


def may_see_token(actor: Actor, trigger: Trigger) -> bool:
    """The owner only, in whose name the started pipelines run."""
    return actor.known and trigger.owner_id == actor.user_id
