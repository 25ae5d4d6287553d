"""Who may see which runners."""

from ingot.access.actor import Actor
from ingot.access.levels import Access, Level
from ingot.groups.namespaces.tables import Namespace
from ingot.projects.policy import may_admin_project
from ingot.projects.tables import Project


def may_list_project_runners(actor: Actor, here: Access, project: Project) -> bool:
    """Masters of a project that has pipelines."""
    return may_admin_project(actor, here, project) and project.jobs_enabled


def may_list_group_runners(actor: Actor, here: Access, group: Namespace) -> bool:  # noqa: ARG001 - All rules take the same three.
    """Masters, owners and administrators."""
    return here.level >= Level.MASTER or actor.admin
