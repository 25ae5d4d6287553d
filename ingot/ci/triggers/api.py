"""Endpoints of pipeline triggers."""

from functools import partial

from ingot.ci.triggers import policy, queries, service, start
from ingot.ci.triggers.params import CreateTrigger, EditTrigger, TriggerPipeline, TriggerPipelineOfRef
from ingot.ci.triggers.tables import Trigger
from ingot.ci.triggers.views import TriggerView, trigger_view
from ingot.core.access.rules import anyone
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.pipelines.tables import Pipeline
from ingot.pipelines.views import PipelineView, pipeline_view
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.tables import Project

routes = Routes("triggers")


def _trigger_in_path(call: Call, project: Project) -> Trigger:
    return queries.find_trigger(call.db, project, path_number(call.path, "trigger_id"))


def _view(call: Call, trigger: Trigger) -> TriggerView:
    return trigger_view(call.db, call.actor, trigger, call.origin.base)


def _trigger_pipeline(stage: StagedCall, params: TriggerPipeline) -> PipelineView:
    store = repository_store(stage.settings)
    project, pipeline = start.trigger_pipeline(stage.database, store, stage.path["id"], params)
    return stage.database.read(partial(_pipeline_view, stage, project, pipeline))


def _pipeline_view(stage: StagedCall, project: Project, pipeline: Pipeline, db: Connection) -> PipelineView:
    return pipeline_view(db, pipeline, f"{stage.origin.base}/{project.full_path}", stage.origin.base)


@routes.post("/projects/:id/trigger/pipeline", may=anyone, open=True, returns=PipelineView, staged=True)
def trigger_pipeline(stage: StagedCall, params: TriggerPipeline) -> PipelineView:
    """Start a pipeline with the token of a trigger or of a running job."""
    return _trigger_pipeline(stage, params)


@routes.post(
    "/projects/:id/ref/:ref/trigger/pipeline",
    may=anyone,
    open=True,
    returns=PipelineView,
    staged=True,
    slashes="ref",
)
def trigger_pipeline_of_ref(stage: StagedCall, params: TriggerPipelineOfRef) -> PipelineView:
    """Start a pipeline for a branch or tag in the path."""
    return _trigger_pipeline(stage, TriggerPipeline(params.token, stage.path["ref"], params.variables, params.inputs))


@routes.get("/projects/:id/triggers", on=project_in_path, may=policy.may_read_triggers, returns=list[TriggerView])
def list_triggers(call: Call, project: Project, page: Page) -> Listing[TriggerView]:
    """List the pipeline triggers of a project."""
    listing = queries.list_triggers(call.db, project, page)
    return listing.of([_view(call, trigger) for trigger in listing.items])


@routes.get("/projects/:id/triggers/:trigger_id", on=project_in_path, may=policy.may_read_triggers, returns=TriggerView)
def get_trigger(call: Call, project: Project) -> TriggerView:
    """Get a pipeline trigger."""
    return _view(call, _trigger_in_path(call, project))


@routes.post("/projects/:id/triggers", on=project_in_path, may=policy.may_change_triggers, returns=TriggerView)
def create_trigger(call: Call, project: Project, params: CreateTrigger) -> TriggerView:
    """Create a pipeline trigger."""
    return _view(call, service.create_trigger(call.db, call.actor, project, params.description))


@routes.put(
    "/projects/:id/triggers/:trigger_id", on=project_in_path, may=policy.may_change_triggers, returns=TriggerView
)
def edit_trigger(call: Call, project: Project, params: EditTrigger) -> TriggerView:
    """Edit a pipeline trigger."""
    return _view(call, service.edit_trigger(call.db, project, _trigger_in_path(call, project), params))


@routes.post(
    "/projects/:id/triggers/:trigger_id/take_ownership",
    on=project_in_path,
    may=policy.may_change_triggers,
    returns=TriggerView,
    status=200,
)
def take_trigger(call: Call, project: Project) -> TriggerView:
    """Take ownership of a pipeline trigger."""
    return _view(call, service.take_trigger_ownership(call.db, call.actor, project, _trigger_in_path(call, project)))


@routes.delete(
    "/projects/:id/triggers/:trigger_id", on=project_in_path, may=policy.may_change_triggers, returns=TriggerView
)
def delete_trigger(call: Call, project: Project) -> TriggerView | None:
    """Delete a pipeline trigger and return it."""
    trigger = queries.trigger_or_none(call.db, project, path_number(call.path, "trigger_id"))
    if trigger is None:
        return None
    service.delete_trigger(call.db, trigger)
    return _view(call, trigger)
