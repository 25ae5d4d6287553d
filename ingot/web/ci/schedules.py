"""Pipeline schedules of a project: list, create, edit, play, take ownership and delete."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UnsetType

from ingot.ci.schedules import api as schedules_api
from ingot.ci.schedules.views import ScheduleDetailView
from ingot.core.api.params import number_or_none
from ingot.core.errors import NotFound
from ingot.web.ci.input_fields import SHOW_INPUTS, form_inputs, given_inputs, input_rows, inputs_of_ref
from ingot.web.ci.pipelines import form_variables
from ingot.web.ci.sections import ci_page
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.forms import form_values

pages = PageRoutes()
_TEXT_FIELDS = ("description", "ref", "cron", "cron_timezone")
_EMPTY_ROWS = 3
SCOPES = {"": "All", "active": "Active", "inactive": "Inactive"}


@pages.get("/:path/-/pipeline_schedules", open=True)
def show_schedules(visit: Visit) -> PageResponse:
    """List the schedules with their next runs."""
    return _list(project_context(visit))


@pages.get("/:path/-/pipeline_schedules/new")
def show_schedule_form(visit: Visit) -> PageResponse:
    """Show the form for a new schedule."""
    parent = project_context(visit)
    if not parent.may(schedules_api.create_schedule):
        raise NotFound("Page")
    typed = {"ref": parent.project.default_branch or "", "cron": "0 4 * * *", "cron_timezone": "UTC", "active": True}
    return _form(parent, None, {"description": "", **typed}, [], {})


@pages.post("/:path/-/pipeline_schedules", notice="Schedule added.")
def create_schedule(visit: Visit) -> PageResponse:
    """Create a schedule with its variables."""
    parent, typed, variables = _submitted(visit)
    inputs = form_inputs(visit)
    if SHOW_INPUTS in visit.request.form and parent.may(schedules_api.create_schedule):
        return _form(parent, None, typed, variables, inputs)
    try:
        schedule = parent.ask(schedules_api.create_schedule, {**typed, "inputs": _changed(parent, typed, inputs, None)})
        _save_variables(parent, schedule, variables)
    except REQUEST_ERRORS as error:
        return _form(parent, None, typed, variables, inputs, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/pipeline_schedules")


@pages.get("/:path/-/pipeline_schedules/:schedule/edit")
def show_schedule(visit: Visit) -> PageResponse:
    """Show the form of a schedule."""
    parent = project_context(visit)
    schedule = _schedule(parent)
    typed = {name: getattr(schedule, name) for name in (*_TEXT_FIELDS, "active")}
    return _form(parent, schedule, typed, _variables_of(schedule), _inputs_of(schedule))


@pages.put("/:path/-/pipeline_schedules/:schedule", notice="Schedule saved.")
def edit_schedule(visit: Visit) -> PageResponse:
    """Change a schedule and its variables."""
    parent, typed, variables = _submitted(visit)
    schedule, inputs = _schedule(parent), form_inputs(visit)
    if SHOW_INPUTS in visit.request.form:
        return _form(parent, schedule, typed, variables, {**_inputs_of(schedule), **inputs})
    sent = {**typed, "inputs": _changed(parent, typed, inputs, schedule)}
    try:
        changed = parent.ask(schedules_api.edit_schedule, sent, pipeline_schedule_id=schedule.id)
        _save_variables(parent, changed, variables)
    except REQUEST_ERRORS as error:
        return _form(parent, schedule, typed, variables, inputs, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/pipeline_schedules")


@pages.post("/:path/-/pipeline_schedules/:schedule/play", notice="Pipeline created.")
def play_schedule(visit: Visit) -> PageResponse:
    """Run a schedule now."""
    return _act(visit, schedules_api.play_schedule)


@pages.post("/:path/-/pipeline_schedules/:schedule/take_ownership", notice="You own the schedule now.")
def take_schedule(visit: Visit) -> PageResponse:
    """Take ownership of a schedule, so that its pipelines run as the current user."""
    return _act(visit, schedules_api.take_schedule)


@pages.delete("/:path/-/pipeline_schedules/:schedule", notice="Schedule deleted.")
def delete_schedule(visit: Visit) -> PageResponse:
    """Delete a schedule."""
    return _act(visit, schedules_api.delete_schedule)


def _list(parent: ProjectContext, errors: list[str] | None = None) -> TemplateResponse:
    visit = parent.visit
    scope = text_field(visit.request.query, "scope")
    params: dict[str, Any] = {"page": visit.request.page, "per_page": 30}
    if scope in SCOPES and scope:
        params["scope"] = scope
    schedules = parent.ask(schedules_api.list_schedules, params)
    rows = [
        (
            parent.ask(schedules_api.get_schedule, pipeline_schedule_id=schedule.id),
            parent.may(schedules_api.edit_schedule, pipeline_schedule_id=schedule.id),
            parent.may(schedules_api.take_schedule, pipeline_schedule_id=schedule.id),
            parent.may(schedules_api.play_schedule, pipeline_schedule_id=schedule.id),
        )
        for schedule in schedules.items
    ]
    context = {
        "schedules": schedules,
        "rows": rows,
        "scope": scope if scope in SCOPES else "",
        "scopes": SCOPES,
        "may_create": parent.may(schedules_api.create_schedule),
        "errors": errors or [],
    }
    return ci_page(parent, "ci/schedules.html", "pipeline_schedules", context, 422 if errors else 200)


def _schedule(parent: ProjectContext) -> ScheduleDetailView:
    number = parent.visit.request.path["schedule"]
    if number_or_none(number) is None or not parent.may(schedules_api.edit_schedule, pipeline_schedule_id=number):
        raise NotFound("Schedule")
    return parent.ask(schedules_api.get_schedule, pipeline_schedule_id=number)


def _submitted(visit: Visit) -> tuple[ProjectContext, dict[str, Any], list[dict[str, str]]]:
    return project_context(visit), form_values(visit, "schedule", _TEXT_FIELDS, ("active",)), form_variables(visit)


def _variables_of(schedule: ScheduleDetailView) -> list[dict[str, str]]:
    if isinstance(schedule.variables, UnsetType):
        return []
    return [{"key": variable.key, "value": variable.value} for variable in schedule.variables]


def _inputs_of(schedule: ScheduleDetailView) -> dict[str, Any]:
    if isinstance(schedule.inputs, UnsetType):
        return {}
    return {each.name: each.value for each in schedule.inputs}


def _changed(
    parent: ProjectContext, typed: dict[str, Any], inputs: dict[str, str], schedule: ScheduleDetailView | None
) -> list[dict[str, Any]]:
    """Return the inputs of a form; those of the schedule that the branch declares no more are removed.

    A value that equals the default is not stored, so that the schedule follows a change of the default.
    """
    specs = inputs_of_ref(parent, typed["ref"])
    defaults = {spec.name: spec.value(spec.text(spec.default)) for spec in specs if not spec.required}
    given = given_inputs(specs, inputs)
    given = {name: value for name, value in given.items() if name not in defaults or value != defaults[name]}
    old = _inputs_of(schedule) if schedule is not None else {}
    removed = [{"name": name, "destroy": True} for name in old if name not in given]
    return [*removed, *({"name": name, "value": value} for name, value in given.items())]


def _save_variables(parent: ProjectContext, schedule: ScheduleDetailView, variables: list[dict[str, str]]) -> None:
    """Make the variables of a schedule equal to those of the form."""
    old = {variable["key"]: variable["value"] for variable in _variables_of(schedule)}
    new = {variable["key"]: variable["value"] for variable in variables}
    path = {"pipeline_schedule_id": schedule.id}
    for key in old.keys() - new.keys():
        parent.ask(schedules_api.delete_schedule_variable, **path, key=key)
    for key, value in new.items():
        if key not in old:
            parent.ask(schedules_api.create_schedule_variable, {"key": key, "value": value}, **path)
        elif old[key] != value:
            parent.ask(schedules_api.edit_schedule_variable, {"value": value}, **path, key=key)


def _act(visit: Visit, endpoint: Callable[..., object]) -> PageResponse:
    parent = project_context(visit)
    number = visit.request.path["schedule"]
    if number_or_none(number) is None:
        raise NotFound("Schedule")
    try:
        parent.ask(endpoint, pipeline_schedule_id=number)
    except REQUEST_ERRORS as error:
        return _list(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/pipeline_schedules")


def _form(
    parent: ProjectContext,
    schedule: ScheduleDetailView | None,
    typed: dict[str, Any],
    variables: list[dict[str, str]],
    inputs: Mapping[str, Any],
    errors: list[str] | None = None,
) -> TemplateResponse:
    context = {
        "schedule": schedule,
        "typed": typed,
        "inputs": input_rows(inputs_of_ref(parent, typed["ref"]), inputs),
        "variables": [*variables, *[{"key": "", "value": ""}] * _EMPTY_ROWS],
        "errors": errors or [],
    }
    return ci_page(parent, "ci/schedule_form.html", "pipeline_schedules", context, 422 if errors else 200)
