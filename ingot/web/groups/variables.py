"""CI/CD variables of projects and groups, and pipeline triggers of projects; variable values are never displayed."""

from collections.abc import Callable
from functools import partial
from typing import Any

from markupsafe import Markup

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.settings import current_settings as instance_settings
from ingot.ci.triggers import api as triggers_api
from ingot.projects.variables import api as variables_api
from ingot.web.ci.settings import (
    FLAG_LABELS,
    GIT_STRATEGIES,
    VARIABLE_ROLES,
    change_settings,
    current_settings,
    submitted_settings,
)
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, nonempty_values, submit_form
from ingot.web.projects.option_fields import project_effects
from ingot.web.projects.settings import find_project_settings
from ingot.web.texts import render_markdown

pages = PageRoutes()
_FLAG_FIELDS = ("protected", "masked", "raw")
_TEXT_FIELDS = ("key", "value", "environment_scope", "description")


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the variable pages of projects or of groups."""

    def acting(work: Callable[[ProjectOrGroupContext], PageResponse]) -> Callable[[Visit], PageResponse]:
        return lambda visit: work(find_parent(visit))

    pages.get(f"{prefix}/ci_cd")(lambda visit: _variables_page(find_parent(visit), FormsState()))
    pages.post(f"{prefix}/variables", notice="Variable added.")(acting(_add))
    pages.put(f"{prefix}/variables", notice="Variable saved.")(acting(_change))
    pages.delete(f"{prefix}/variables", notice="Variable removed.")(acting(_remove))


def _add(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "variable", _TEXT_FIELDS, _FLAG_FIELDS)
    params = nonempty_values(typed) | {"value": typed["value"]}
    return _submit(parent, "variable", typed, partial(parent.ask, variables_api.create_variable, params))


def _change(parent: ProjectOrGroupContext) -> PageResponse:
    """Change the variable named in the form; an empty value leaves the value unchanged."""
    typed = form_values(parent.visit, "changed", ("key", "value", "scope"), _FLAG_FIELDS)
    params = {name: typed[name] for name in _FLAG_FIELDS}
    if typed["value"]:
        params["value"] = typed["value"]
    act = partial(parent.ask, variables_api.edit_variable, params | _scope(typed), key=typed["key"])
    return _submit(parent, "variables", {}, act)


def _remove(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "changed", ("key", "scope"))
    act = partial(parent.ask, variables_api.delete_variable, _scope(typed), key=typed["key"])
    return _submit(parent, "variables", {}, act)


def _scope(typed: dict[str, Any]) -> dict[str, Any]:
    return {"filter": {"environment_scope": typed["scope"]}} if typed["scope"] else {}


@pages.put("/:path/-/settings/ci_cd", notice="Settings saved.")
def change_ci_settings(visit: Visit) -> PageResponse:
    """Change the settings of a project for pipelines."""
    parent = find_project_settings(visit)
    typed = submitted_settings(parent)
    return _submit(parent, "ci", typed, partial(change_settings, parent, typed))


@pages.post("/:path/-/settings/triggers", notice="Trigger added.")
def add_trigger(visit: Visit) -> PageResponse:
    """Create a trigger token, which starts pipelines."""
    parent = find_project_settings(visit)
    typed = form_values(visit, "trigger", ("description",))
    return _submit(parent, "trigger", typed, partial(parent.ask, triggers_api.create_trigger, typed))


@pages.post("/:path/-/settings/triggers/:trigger/take_ownership", notice="You now own the trigger.")
def take_trigger_ownership(visit: Visit) -> PageResponse:
    """Take ownership of a trigger, so that its pipelines run as the current user."""
    parent = find_project_settings(visit)
    return _submit(
        parent, "triggers", {}, partial(parent.ask, triggers_api.take_trigger, trigger_id=visit.request.path["trigger"])
    )


@pages.delete("/:path/-/settings/triggers/:trigger", notice="Trigger removed.")
def remove_trigger(visit: Visit) -> PageResponse:
    """Delete a trigger."""
    parent = find_project_settings(visit)
    act = partial(parent.ask, triggers_api.delete_trigger, trigger_id=visit.request.path["trigger"])
    return _submit(parent, "triggers", {}, act)


def _submit(parent: ProjectOrGroupContext, form: str, typed: dict[str, Any], act: Callable[[], object]) -> PageResponse:
    return submit_form(form, typed, act, partial(_variables_page, parent), f"{parent.url}/-/settings/ci_cd")


def _variables_page(parent: ProjectOrGroupContext, forms: FormsState) -> TemplateResponse:
    project = isinstance(parent, ProjectContext)
    enabled = parent.may(variables_api.list_variables)
    every = {"per_page": 100}
    context: dict[str, Any] = {
        "forms": forms,
        "enabled": enabled,
        "variables": parent.ask(variables_api.list_variables, every).items if enabled else [],
        "triggers": parent.ask(triggers_api.list_triggers, every).items if project and enabled else [],
        "has_triggers": project,
        "ci": current_settings(parent) if isinstance(parent, ProjectContext) and enabled else {},
        "ci_flags": FLAG_LABELS,
        "effects": project_effects(),
        "git_strategies": GIT_STRATEGIES,
        "variable_roles": VARIABLE_ROLES,
        "protects": parent.visit.database.read(lambda db: all_settings(db).protected_ci_variables),
        "runners_text": _runners_text(parent) if project else "",
        "may_change": parent.may(variables_api.create_variable),
        "flags": {
            "protected": "Protected: only available on protected branches and tags",
            "masked": "Masked: hidden in job logs",
            "raw": "Raw: do not expand references to other variables",
        },
    }
    return settings_page(parent, "groups/variables.html", "settings/ci_cd", context, forms.status)


def _runners_text(parent: ProjectOrGroupContext) -> Markup:
    text = parent.visit.database.read(lambda db: instance_settings(db).shared_runners_text)
    return render_markdown(parent.visit, text or "")


_declare_pages("/:path/-/settings", find_project_settings)
_declare_pages("/groups/:path/-/settings", find_group_settings)
