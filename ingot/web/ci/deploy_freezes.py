"""Freeze periods of a project, a page of its settings."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.ci.freeze_periods import api as freeze_periods_api
from ingot.ci.freeze_periods.status import is_frozen
from ingot.core.errors import NotFound
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
_FIELDS = ("freeze_start", "freeze_end", "cron_timezone")


@pages.get("/:path/-/settings/deploy_freezes")
def show_freeze_periods(visit: Visit) -> PageResponse:
    """List the freeze periods of a project, and whether one is in force."""
    return _page(_settings(visit), FormsState())


@pages.post("/:path/-/settings/deploy_freezes", notice="Freeze period added.")
def create_freeze_period(visit: Visit) -> PageResponse:
    """Add a freeze period."""
    typed = form_values(visit, "freeze", _FIELDS)
    return _submit(visit, "freeze", typed, freeze_periods_api.create_freeze_period, _params(typed))


@pages.put("/:path/-/settings/deploy_freezes/:period", notice="Freeze period saved.")
def edit_freeze_period(visit: Visit) -> PageResponse:
    """Change a freeze period."""
    period = visit.request.path["period"]
    typed = form_values(visit, "freeze", _FIELDS)
    edit = freeze_periods_api.edit_freeze_period
    return _submit(visit, f"freeze_{period}", typed, edit, _params(typed), freeze_period_id=period)


@pages.delete("/:path/-/settings/deploy_freezes/:period", notice="Freeze period deleted.")
def delete_freeze_period(visit: Visit) -> PageResponse:
    """Delete a freeze period."""
    period = visit.request.path["period"]
    return _submit(visit, "freezes", {}, freeze_periods_api.delete_freeze_period, freeze_period_id=period)


def _settings(visit: Visit) -> ProjectContext:
    parent = find_project_settings(visit)
    if not parent.may(freeze_periods_api.list_freeze_periods):
        raise NotFound("Page")
    return parent


def _params(typed: dict[str, Any]) -> dict[str, Any]:
    return {**typed, "cron_timezone": typed["cron_timezone"].strip() or "UTC"}


def _submit(
    visit: Visit,
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., object],
    params: dict[str, Any] | None = None,
    **path: object,
) -> PageResponse:
    parent = _settings(visit)
    url = f"{parent.url}/-/settings/deploy_freezes"
    return submit_form(form, typed, lambda: parent.ask(endpoint, params, **path), partial(_page, parent), url)


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    context: dict[str, Any] = {
        "section": "settings/deploy_freezes",
        "forms": forms,
        "periods": parent.ask(freeze_periods_api.list_freeze_periods, {"per_page": 100}).items,
        "frozen": parent.visit.database.read(partial(is_frozen, project_id=parent.project.id)),
        "may_change": parent.may(freeze_periods_api.create_freeze_period),
    }
    return parent.page("ci/deploy_freezes.html", "settings", context, forms.status)
