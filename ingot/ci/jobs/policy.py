"""Permissions on one job."""

from typing import NamedTuple

from ingot.ci.job_records.policy import has_jobs, may_change_jobs, may_read_jobs
from ingot.ci.job_records.tables import CiJob
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.projects.projects.tables import Project


class JobSubject(NamedTuple):
    """A job of a project."""

    project: Project
    access: Access
    job: CiJob
    open_ref: bool = True
    """Whether the caller may run jobs on the branch or tag of the job, which may be protected."""
    runnable: bool = True
    """Whether the caller may start or retry the job: on its branch or tag, or in its protected environment."""
    debugs: bool = False
    """Whether the trace shows all commands with the values of variables."""


def may_read_job(actor: Actor, access: Access, subject: JobSubject) -> bool:
    """Reporters, and everyone who may see the project if its jobs are public."""
    return may_read_jobs(actor, access, subject.project)


def may_read_trace(actor: Actor, access: Access, subject: JobSubject) -> bool:
    """Users who may read the job; developers only if the trace shows the values of variables."""
    if subject.debugs and not may_change_jobs(actor, access, subject.project):
        return False
    return may_read_jobs(actor, access, subject.project)


def may_change_job(actor: Actor, access: Access, subject: JobSubject) -> bool:
    """Developers who may push to the branch or merge into it, or create the tag, unless the project is archived."""
    return may_change_jobs(actor, access, subject.project) and subject.open_ref


def may_run_job(actor: Actor, access: Access, subject: JobSubject) -> bool:
    """Developers who may change the job; in a protected environment reporters and above who may deploy to it."""
    return may_read_job(actor, access, subject) and not subject.project.archived and subject.runnable


def may_read_resource_groups(actor: Actor, access: Access, project: Project) -> bool:
    """Developers."""
    return has_jobs(project) and (access.level >= Level.DEVELOPER or actor.admin)
