"""Permissions on runners."""

from ingot.ci.runners.tables import Runner
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project


def may_list_project_runners(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, if the project has pipelines."""
    return may_admin_project(actor, access, project) and project.jobs_enabled


def may_change_project_runners(actor: Actor, access: Access, project: Project) -> bool:
    """Maintainers, if the project has pipelines and is not archived."""
    return may_change_project(actor, access, project) and project.jobs_enabled


def may_list_group_runners(actor: Actor, access: Access, group: Namespace) -> bool:  # noqa: ARG001 - Permission functions share one signature.
    """Maintainers, owners and administrators."""
    return access.level >= Level.MASTER or actor.admin


def may_see_runner(actor: Actor, access: Access, runner: Runner) -> bool:
    """All users for runners of the instance; otherwise maintainers of one of its projects or of its group."""
    if runner.runner_type == "instance_type":
        return actor.known
    return access.level >= Level.MASTER or actor.admin


def may_change_runner(actor: Actor, access: Access, runner: Runner) -> bool:
    """Administrators, maintainers of one of its projects, or owners of its group."""
    if runner.runner_type == "instance_type":
        return actor.admin
    least = Level.OWNER if runner.runner_type == "group_type" else Level.MASTER
    return access.level >= least or actor.admin


def may_see_runner_jobs(actor: Actor, access: Access, runner: Runner) -> bool:
    """Callers who may change the runner."""
    return may_change_runner(actor, access, runner)
