"""Permissions on pipeline schedules."""

from typing import NamedTuple

from ingot.ci.job_records.policy import may_read_jobs
from ingot.ci.pipelines.policy import may_give_variables, may_run_pipelines
from ingot.ci.schedules.tables import PipelineSchedule
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.projects.projects.policy import may_change_project
from ingot.projects.projects.tables import Project


class ScheduleContext(NamedTuple):
    """A schedule, its project and the caller's access to it."""

    access: Access
    project: Project
    schedule: PipelineSchedule


def may_list_schedules(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may read jobs."""
    return may_read_jobs(actor, access, project)


def may_create_schedule(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may run pipelines."""
    return may_run_pipelines(actor, access, project)


def may_read_schedule(actor: Actor, access: Access, context: ScheduleContext) -> bool:
    """Users who may read jobs."""
    return may_read_jobs(actor, access, context.project)


def may_play_schedule(actor: Actor, access: Access, context: ScheduleContext) -> bool:
    """Users who may run pipelines, on protected branches and tags those who may update them."""
    return may_run_pipelines(actor, access, context.project)


def may_administer_schedule(actor: Actor, access: Access, context: ScheduleContext) -> bool:
    """Maintainers, and the owner of the schedule while they may run pipelines."""
    if may_change_project(actor, access, context.project) and context.project.jobs_enabled:
        return True
    return may_edit_schedule(actor, access, context)


def may_edit_schedule(actor: Actor, access: Access, context: ScheduleContext) -> bool:
    """The owner while they may run pipelines; others would choose what runs in the owner's name."""
    return may_run_pipelines(actor, access, context.project) and context.schedule.owner_id == actor.user_id


def may_edit_schedule_variables(actor: Actor, access: Access, context: ScheduleContext) -> bool:
    """The owner of the schedule, with the role that the project demands for variables."""
    return may_edit_schedule(actor, access, context) and may_give_variables(actor, access, context.project)
