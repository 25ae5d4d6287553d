"""Permissions on pipelines that run jobs."""

from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access, Level
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.policy import may_own_project, may_push_code
from ingot.projects.projects.tables import Project


class PipelineSubject(NamedTuple):
    """A pipeline of a project."""

    project: Project
    pipeline: Pipeline
    open_ref: bool
    """Whether the caller may run jobs on the branch or tag of the pipeline, which may be protected."""


def may_run_pipelines(actor: Actor, access: Access, project: Project) -> bool:
    """Developers, unless the project is archived or has no pipelines."""
    return actor.known and project.jobs_enabled and may_push_code(actor, access, project)


def may_give_variables(actor: Actor, access: Access, project: Project) -> bool:
    """Users who may run pipelines; if the project restricts variables, those with the role that it names."""
    required = _LEVELS_FOR_VARIABLES.get(project.ci_options.ci_pipeline_variables_minimum_override_role)
    return required is not None and (access.level >= required or actor.admin)


# "no_one_allowed" admits no one.
_LEVELS_FOR_VARIABLES = {"developer": Level.DEVELOPER, "maintainer": Level.MASTER, "owner": Level.OWNER}


def may_change_pipeline(actor: Actor, access: Access, subject: PipelineSubject) -> bool:
    """Developers who may push to the branch or merge into it, or create the tag, unless the project is archived."""
    return may_run_pipelines(actor, access, subject.project) and subject.open_ref


def may_delete_pipeline(actor: Actor, access: Access, project: Project) -> bool:
    """Owners, unless the project is archived or has no pipelines."""
    return may_run_pipelines(actor, access, project) and may_own_project(actor, access, project)
