"""Who may do what with pipeline triggers: nobody anything where the project has no pipelines."""

from ingot.access.actor import Actor
from ingot.access.levels import Access
from ingot.projects.policy import may_admin_project, may_change_project
from ingot.projects.tables import Project
from ingot.triggers.tables import Trigger


def may_read_triggers(actor: Actor, here: Access, project: Project) -> bool:
    """Masters."""
    return may_admin_project(actor, here, project) and project.jobs_enabled


def may_change_triggers(actor: Actor, here: Access, project: Project) -> bool:
    """Masters, unless the project is archived."""
    return may_change_project(actor, here, project) and project.jobs_enabled


def may_see_token(actor: Actor, trigger: Trigger) -> bool:
    """Only its owner: pipelines that it starts run in their name."""
    return actor.known and trigger.owner_id == actor.user_id
