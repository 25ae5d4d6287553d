"""Permissions on runners."""

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.tables import Project


def may_list_project_runners(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, if the project has pipelines."""
    return may_admin_project(actor, access, project) and project.jobs_enabled


def may_list_group_runners(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - Permission functions share one signature.
    """Maintainers, owners and administrators."""
    return access.level >= Level.MASTER or actor.admin
