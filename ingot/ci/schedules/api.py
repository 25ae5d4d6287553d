"""Endpoints of pipeline schedules."""

import secrets
from functools import partial

from msgspec import UNSET

from ingot.ci.pipelines.ref_protection import may_run_on_ref
from ingot.ci.schedules import policy, queries, service
from ingot.ci.schedules.params import (
    CreateSchedule,
    CreateScheduleVariable,
    EditSchedule,
    EditScheduleVariable,
    ListSchedules,
)
from ingot.ci.schedules.policy import ScheduleContext
from ingot.ci.schedules.start import (
    ScheduledRef,
    create_scheduled_pipeline,
    planned_ref,
    scheduled_ref_or_none,
)
from ingot.ci.schedules.tables import PipelineSchedule
from ingot.ci.schedules.views import (
    PlayedScheduleView,
    ScheduleDetailView,
    ScheduleVariableView,
    ScheduleView,
    schedule_detail,
    schedule_variable_view,
    schedule_views,
)
from ingot.core.access.levels import Access
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid
from ingot.pipelines.views import PipelineBrief, pipeline_brief
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.context import project_url

routes = Routes("pipeline_schedules")


def schedule_in_path(call: Call) -> tuple[Access, ScheduleContext]:
    """Find the schedule in the path; raise Denied for callers who may not list schedules."""
    access, project = find_project(call.db, call.actor, call.path["id"])
    require(policy.may_list_schedules(call.actor, access, project))
    schedule = queries.find_schedule(call.db, project.id, path_number(call.path, "pipeline_schedule_id"))
    return access, ScheduleContext(access, project, schedule)


def _detail(
    call: Call | StagedCall, db: Connection, project: Project, schedule: PipelineSchedule, *, with_variables: bool
) -> ScheduleDetailView:
    url = project_url(call, project)
    return schedule_detail(db, schedule, call.origin.base, url, with_variables=with_variables)


@routes.get(
    "/projects/:id/pipeline_schedules", on=project_in_path, may=policy.may_list_schedules, returns=list[ScheduleView]
)
def list_schedules(call: Call, project: Project, params: ListSchedules, page: Page) -> Listing[ScheduleView]:
    """List the pipeline schedules of a project."""
    listing = queries.list_schedules(call.db, project.id, params.scope, page)
    return listing.of(schedule_views(call.db, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id",
    on=schedule_in_path,
    may=policy.may_read_schedule,
    returns=ScheduleDetailView,
)
def get_schedule(call: Call, context: ScheduleContext) -> ScheduleDetailView:
    """Get a pipeline schedule."""
    with_variables = policy.may_administer_schedule(call.actor, context.access, context)
    return _detail(call, call.db, context.project, context.schedule, with_variables=with_variables)


@routes.get(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines",
    on=schedule_in_path,
    may=policy.may_read_schedule,
    returns=list[PipelineBrief],
)
def list_schedule_pipelines(call: Call, context: ScheduleContext, page: Page) -> Listing[PipelineBrief]:
    """List the pipelines of a schedule."""
    listing = queries.list_schedule_pipelines(call.db, context.schedule, page)
    url = project_url(call, context.project)
    return listing.of([pipeline_brief(pipeline, url) for pipeline in listing.items])


@routes.post(
    "/projects/:id/pipeline_schedules",
    on=project_in_path,
    may=policy.may_create_schedule,
    returns=ScheduleDetailView,
    staged=True,
)
def create_schedule(stage: StagedCall, project: Project, params: CreateSchedule) -> ScheduleDetailView:
    """Create a pipeline schedule for a branch or tag on which the caller may run pipelines."""
    ref, is_tag = planned_ref(repository_store(stage.settings), project, params.ref)

    def write(db: Connection) -> ScheduleDetailView:
        schedule = service.create_schedule(db, stage.actor, project, params)
        _require_open_ref(db, stage, project, ref, is_tag=is_tag)
        return _detail(stage, db, project, schedule, with_variables=True)

    return stage.database.write(write)


@routes.put(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id",
    on=schedule_in_path,
    may=policy.may_edit_schedule,
    returns=ScheduleDetailView,
    staged=True,
)
def edit_schedule(stage: StagedCall, context: ScheduleContext, params: EditSchedule) -> ScheduleDetailView:
    """Edit a pipeline schedule; its owner may, others take ownership first."""
    given = context.schedule.ref if params.ref is UNSET else params.ref
    ref, is_tag = planned_ref(repository_store(stage.settings), context.project, given)

    def write(db: Connection) -> ScheduleDetailView:
        schedule = queries.find_schedule(db, context.project.id, context.schedule.id)
        require(policy.may_edit_schedule(stage.actor, context.access, context._replace(schedule=schedule)))
        schedule = service.edit_schedule(db, schedule, params)
        _require_open_ref(db, stage, context.project, ref, is_tag=is_tag)
        return _detail(stage, db, context.project, schedule, with_variables=True)

    return stage.database.write(write)


@routes.post(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/take_ownership",
    on=schedule_in_path,
    may=policy.may_administer_schedule,
    returns=ScheduleDetailView,
)
def take_schedule(call: Call, context: ScheduleContext) -> ScheduleDetailView:
    """Take ownership of a pipeline schedule."""
    schedule = service.take_schedule_ownership(call.db, call.actor, context.schedule)
    return _detail(call, call.db, context.project, schedule, with_variables=True)


@routes.post(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/play",
    on=schedule_in_path,
    may=policy.may_play_schedule,
    returns=PlayedScheduleView,
    staged=True,
)
def play_schedule(stage: StagedCall, context: ScheduleContext) -> PlayedScheduleView:
    """Run a pipeline schedule now, in the name of the caller; its next run does not change."""
    _, project, schedule = context
    store = repository_store(stage.settings)
    ref = scheduled_ref_or_none(store, project, schedule.ref)
    if ref is None:
        raise Invalid(base=["Reference not found"])
    require(stage.database.read(partial(_may_play, stage=stage, context=context, ref=ref)))
    occurrence = f"play {secrets.token_hex(16)}"
    user_id = stage.actor.user_id
    create = partial(create_scheduled_pipeline, stage.database, store, project, schedule, ref)
    if create(user_id=user_id, occurrence=occurrence) is None:
        raise Invalid(base=["The configuration has no jobs for this pipeline"])
    return PlayedScheduleView()


@routes.delete(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id",
    on=project_in_path,
    may=policy.may_list_schedules,
    returns=None,
)
def delete_schedule(call: Call, project: Project) -> None:
    """Delete a pipeline schedule; maintainers and its owner may."""
    schedule = queries.schedule_or_none(call.db, project.id, path_number(call.path, "pipeline_schedule_id"))
    if schedule is not None:
        access, _ = find_project(call.db, call.actor, project.id)
        require(policy.may_administer_schedule(call.actor, access, ScheduleContext(access, project, schedule)))
        service.delete_schedule(call.db, schedule)


@routes.post(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables",
    on=schedule_in_path,
    may=policy.may_edit_schedule_variables,
    returns=ScheduleVariableView,
)
def create_schedule_variable(
    call: Call, context: ScheduleContext, params: CreateScheduleVariable
) -> ScheduleVariableView:
    """Create a variable of a pipeline schedule."""
    return schedule_variable_view(call.db, service.create_schedule_variable(call.db, context.schedule, params))


@routes.get(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key",
    on=schedule_in_path,
    may=policy.may_administer_schedule,
    returns=ScheduleVariableView,
)
def get_schedule_variable(call: Call, context: ScheduleContext) -> ScheduleVariableView:
    """Get a variable of a pipeline schedule."""
    return schedule_variable_view(
        call.db, queries.find_schedule_variable(call.db, context.schedule.id, call.path["key"])
    )


@routes.put(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key",
    on=schedule_in_path,
    may=policy.may_edit_schedule_variables,
    returns=ScheduleVariableView,
)
def edit_schedule_variable(call: Call, context: ScheduleContext, params: EditScheduleVariable) -> ScheduleVariableView:
    """Edit a variable of a pipeline schedule."""
    variable = queries.find_schedule_variable(call.db, context.schedule.id, call.path["key"])
    return schedule_variable_view(call.db, service.edit_schedule_variable(call.db, variable, params))


@routes.delete(
    "/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key",
    on=schedule_in_path,
    may=policy.may_edit_schedule_variables,
    returns=ScheduleVariableView,
    status=202,
)
def delete_schedule_variable(call: Call, context: ScheduleContext) -> ScheduleVariableView | None:
    """Delete a variable of a pipeline schedule and return it."""
    variable = queries.schedule_variable_or_none(call.db, context.schedule.id, call.path["key"])
    if variable is None:
        return None
    service.delete_schedule_variable(call.db, variable)
    return schedule_variable_view(call.db, variable)


def _require_open_ref(db: Connection, stage: StagedCall, project: Project, ref: str, *, is_tag: bool) -> None:
    """Raise Invalid if the runs of a schedule would be refused because its branch or tag is protected."""
    access, project = find_project(db, stage.actor, project.id)
    if not may_run_on_ref(db, stage.actor, access, project, ref, is_tag=is_tag):
        raise Invalid(base=[f"You may not run pipelines on the protected branch or tag '{ref}'"])


def _may_play(db: Connection, stage: StagedCall, context: ScheduleContext, ref: ScheduledRef) -> bool:
    return may_run_on_ref(db, stage.actor, context.access, context.project, ref.name, is_tag=ref.is_tag)
