"""Runner pages, shared by projects, groups and the instance."""

from collections.abc import Callable
from typing import Any

from ingot.ci.runners import api as runners_api
from ingot.ci.runners.summaries import runner_summaries
from ingot.ci.runners.views import RunnerView
from ingot.core.api.params import number_or_none
from ingot.core.errors import NotFound
from ingot.web.ci.runner_collections import RunnerCollection, group_runners, instance_runners, project_runners
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import form_values

pages = PageRoutes()
_PER_PAGE = 20
_MAX_INHERITED = 50
"""Number of runners of groups and of the instance that the list of a project shows."""
STATUS_TABS = {
    "": "All",
    "online": "Online",
    "offline": "Offline",
    "never_contacted": "Never contacted",
    "paused": "Paused",
}
_TEXT_FIELDS = ("description", "tag_list", "maximum_timeout", "maintenance_note")
_FLAG_FIELDS = ("run_untagged", "locked", "paused", "protected")


def _declare_pages(prefix: str, find_collection: Callable[[Visit], RunnerCollection]) -> None:
    """Declare the runner pages of projects, groups or the instance."""

    def on(work: Callable[[RunnerCollection], PageResponse]) -> Callable[[Visit], PageResponse]:
        return lambda visit: work(find_collection(visit))

    pages.get(prefix)(on(_list))
    pages.post(prefix)(on(_create))
    pages.get(f"{prefix}/new")(on(_show_form))
    pages.get(f"{prefix}/:runner/edit")(on(_show))
    pages.put(f"{prefix}/:runner", notice="Runner saved.")(on(_edit))
    pages.delete(f"{prefix}/:runner", notice="Runner removed.")(on(_delete))
    pages.post(f"{prefix}/:runner/pause", notice="Runner paused.")(
        on(lambda collection: _set_paused(collection, paused=True))
    )
    pages.post(f"{prefix}/:runner/resume", notice="Runner resumed.")(
        on(lambda collection: _set_paused(collection, paused=False))
    )
    pages.post(f"{prefix}/reset_registration_token", notice="Registration token reset.")(on(_reset_registration_token))


def _list(collection: RunnerCollection, errors: list[str] | None = None, status: int = 200) -> TemplateResponse:
    """List the runners, those of the groups and of the instance apart from the collection's own."""
    visit = collection.visit
    chosen = text_field(visit.request.query, "status")
    chosen = chosen if chosen in STATUS_TABS else ""
    filters = {"status": chosen} if chosen else {}
    listed = collection.list_runners(
        {**collection.filters, **filters, "page": visit.request.page, "per_page": _PER_PAGE}
    )
    inherited = {
        kind: collection.list_runners({**filters, "type": kind, "per_page": _MAX_INHERITED}).items
        for kind in collection.inherited_kinds
    }
    shown = [*listed.items, *(runner for runners in inherited.values() for runner in runners)]
    actor, ids = visit.viewer.actor, [runner.id for runner in shown]
    context = {
        "runners": listed,
        "inherited": inherited,
        "details": visit.database.read(lambda db: runner_summaries(db, actor, ids)),
        "status": chosen,
        "status_tabs": STATUS_TABS,
        "assignable": _assignable(collection, listed.items),
        "token": collection.registration_token,
        "errors": errors or [],
    }
    return collection.page("ci/runners.html", context, status)


def _assignable(collection: RunnerCollection, runners: list[Any]) -> list[RunnerView]:
    """Return the runners of other projects that the user may make available to this one."""
    if not collection.is_project or not collection.may_change:
        return []
    own = collection.visit.ask(runners_api.list_runners, {"type": "project_type", "per_page": 100}).items
    present = {runner.id for runner in runners}
    return [runner for runner in own if runner.id not in present]


def _show_form(
    collection: RunnerCollection, typed: dict[str, Any] | None = None, errors: list[str] | None = None
) -> TemplateResponse:
    if not collection.may_change:
        raise NotFound("Page")
    initial = dict.fromkeys(_TEXT_FIELDS, "") | dict.fromkeys(_FLAG_FIELDS, False) | {"run_untagged": True}
    return collection.page(
        "ci/runner_new.html", {"typed": typed or initial, "errors": errors or []}, 422 if errors else 200
    )


def _create(collection: RunnerCollection) -> PageResponse:
    """Create a runner and show its token, which is shown only once."""
    typed = form_values(collection.visit, "runner", _TEXT_FIELDS, _FLAG_FIELDS)
    try:
        params = {"runner_type": collection.kind, **collection.owner, **_api_params(typed)}
        runner = collection.visit.ask(runners_api.create_runner, params)
    except REQUEST_ERRORS as error:
        return _show_form(collection, typed, error_messages(error))
    return collection.page("ci/runner_created.html", {"runner": runner})


def _show(
    collection: RunnerCollection, typed: dict[str, Any] | None = None, errors: list[str] | None = None
) -> TemplateResponse:
    visit = collection.visit
    runner = visit.ask(runners_api.get_runner, id=_runner_id(visit))
    fields: dict[str, Any] = {
        "description": runner.description,
        "tag_list": ", ".join(runner.tag_list),
        "maximum_timeout": runner.maximum_timeout or "",
        "maintenance_note": runner.maintenance_note or "",
        "run_untagged": runner.run_untagged,
        "locked": runner.locked,
        "paused": runner.paused,
        "protected": runner.access_level == "ref_protected",
    }
    context = {
        "runner": runner,
        "managers": visit.ask(runners_api.list_runner_managers, id=runner.id),
        "may_edit": visit.may(runners_api.edit_runner, id=runner.id),
        "typed": typed or fields,
        "errors": errors or [],
    }
    return collection.page("ci/runner.html", context, 422 if errors else 200)


def _edit(collection: RunnerCollection) -> PageResponse:
    typed = form_values(collection.visit, "runner", _TEXT_FIELDS, _FLAG_FIELDS)
    try:
        collection.visit.ask(runners_api.edit_runner, _api_params(typed), id=_runner_id(collection.visit))
    except REQUEST_ERRORS as error:
        return _show(collection, typed, error_messages(error))
    return LocalRedirect(collection.url)


def _api_params(typed: dict[str, Any]) -> dict[str, Any]:
    tags = [tag.strip() for tag in typed["tag_list"].split(",") if tag.strip()]
    return {
        "description": typed["description"],
        "maintenance_note": typed["maintenance_note"],
        "tag_list": tags,
        "run_untagged": typed["run_untagged"],
        "locked": typed["locked"],
        "paused": typed["paused"],
        "access_level": "ref_protected" if typed["protected"] else "not_protected",
        "maximum_timeout": typed["maximum_timeout"] or None,
    }


def _delete(collection: RunnerCollection) -> PageResponse:
    return _act(collection, lambda runner: collection.visit.ask(runners_api.delete_runner, id=runner))


def _set_paused(collection: RunnerCollection, *, paused: bool) -> PageResponse:
    def act(runner: str) -> object:
        return collection.visit.ask(runners_api.edit_runner, {"paused": paused}, id=runner)

    return _act(collection, act)


def _act(collection: RunnerCollection, act: Callable[[str], object]) -> PageResponse:
    try:
        act(_runner_id(collection.visit))
    except REQUEST_ERRORS as error:
        return _list(collection, error_messages(error), status=422)
    return LocalRedirect(collection.url)


def _reset_registration_token(collection: RunnerCollection) -> PageResponse:
    collection.reset_token()
    return LocalRedirect(collection.url)


def _runner_id(visit: Visit) -> str:
    number = visit.request.path["runner"]
    if number_or_none(number) is None:
        raise NotFound("Runner")
    return number


@pages.post("/:path/-/runners/enable", notice="Runner enabled for this project.")
def enable_runner(visit: Visit) -> PageResponse:
    """Make a runner of another project available to this one."""
    return _change_assignment(visit, text_field(visit.request.form, "runner_id"), assign=True)


@pages.post("/:path/-/runners/:runner/disable", notice="Runner disabled for this project.")
def disable_runner(visit: Visit) -> PageResponse:
    """Make a runner of another project unavailable to this one."""
    return _change_assignment(visit, visit.request.path["runner"], assign=False)


def _change_assignment(visit: Visit, runner: str, *, assign: bool) -> PageResponse:
    collection = project_runners(visit)
    parent = collection.parent
    assert isinstance(parent, ProjectContext)  # noqa: S101 - These are the runners of a project.
    try:
        if assign:
            parent.ask(runners_api.assign_runner, {"runner_id": runner})
        else:
            parent.ask(runners_api.unassign_runner, runner_id=runner)
    except REQUEST_ERRORS as error:
        return _list(collection, error_messages(error), status=422)
    return LocalRedirect(collection.url)


for _prefix, _find_collection in (
    ("/:path/-/runners", project_runners),
    ("/groups/:path/-/runners", group_runners),
    ("/admin/runners", instance_runners),
):
    _declare_pages(_prefix, _find_collection)
