"""Protected environments of a project, or deployment tiers of a group, a page of its settings."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.accounts.users import api as users_api
from ingot.core.errors import Invalid, NotFound
from ingot.projects.environments import api as environments_api
from ingot.projects.environments.protection import api as protection_api
from ingot.projects.environments.protection.params import TIERS
from ingot.projects.group_projects import api as group_projects_api
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.approval_rules import words
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.repository_settings import PROTECTION_LEVELS
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
LEVELS = {value: name for value, name in PROTECTION_LEVELS.items() if value != "0"}
_SECTION = "settings/protected_environments"
_FIELDS = ("name", "access_level", "usernames", "groups")


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the page of protected environments of projects or of groups."""
    pages.get(prefix)(lambda visit: _page(find_parent(visit), FormsState()))
    pages.post(prefix, notice="Environment protected.")(lambda visit: _protect(find_parent(visit)))
    pages.put(prefix, notice="Permission added.")(lambda visit: _allow(find_parent(visit)))
    pages.delete(f"{prefix}/levels/:level", notice="Permission removed.")(lambda visit: _disallow(find_parent(visit)))
    pages.delete(prefix, notice="Protection removed.")(lambda visit: _unprotect(find_parent(visit)))


_declare_pages("/:path/-/settings/protected_environments", find_project_settings)
_declare_pages("/groups/:path/-/settings/protected_environments", find_group_settings)


def _protect(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "environment", _FIELDS, ("inherited",))

    def add() -> None:
        levels = _levels(parent.visit, typed)
        parent.ask(protection_api.protect_environment, {"name": typed["name"], "deploy_access_levels": levels})

    return _submit(parent, "environment", typed, add)


def _allow(parent: ProjectOrGroupContext) -> PageResponse:
    typed = form_values(parent.visit, "environment", _FIELDS, ("inherited",))

    def edit() -> None:
        levels = _levels(parent.visit, typed)
        if not levels:
            raise Invalid("Choose a role, or enter a user or a group.")
        _edit(parent, typed["name"], levels)

    return _submit(parent, f"environment {typed['name']}", typed, edit)


def _disallow(parent: ProjectOrGroupContext) -> PageResponse:
    name = form_values(parent.visit, "environment", ("name",))["name"]
    levels = [{"id": parent.visit.request.path["level"], "_destroy": True}]
    return _submit(parent, "environments", {}, lambda: _edit(parent, name, levels))


def _edit(parent: ProjectOrGroupContext, name: str, levels: list[dict[str, Any]]) -> None:
    parent.ask(protection_api.edit_protected_environment, {"deploy_access_levels": levels}, name=name)


def _unprotect(parent: ProjectOrGroupContext) -> PageResponse:
    name = form_values(parent.visit, "environment", ("name",))["name"]
    return _submit(
        parent, "environments", {}, lambda: parent.ask(protection_api.unprotect_environment, None, name=name)
    )


def _levels(visit: Visit, typed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the permissions of a form; raise Invalid for unknown users and groups."""
    levels: list[dict[str, Any]] = []
    if typed["access_level"]:
        levels.append({"access_level": typed["access_level"]})
    for username in words(typed["usernames"]):
        users = visit.ask(users_api.list_users, {"username": username}).items
        if not users:
            raise Invalid(f"There is no user @{username}.")
        levels.append({"user_id": users[0].id})
    for path in words(typed["groups"]):
        try:
            group_id = visit.ask(group_projects_api.get_group, id=path).id
        except NotFound:
            raise Invalid(f"There is no group {path}.") from None
        levels.append({"group_id": group_id, "group_inheritance_type": int(typed["inherited"])})
    return levels


def _submit(
    parent: ProjectOrGroupContext, form: str, typed: dict[str, Any], action: Callable[[], object]
) -> PageResponse:
    return submit_form(form, typed, action, partial(_page, parent), f"{parent.url}/-/{_SECTION}")


def _page(parent: ProjectOrGroupContext, forms: FormsState) -> TemplateResponse:
    every = {"per_page": 100}
    names: list[str] = []
    if isinstance(parent, ProjectContext) and parent.may(environments_api.list_environments):
        names = [environment.name for environment in parent.ask(environments_api.list_environments, every).items]
    context: dict[str, Any] = {
        "forms": forms,
        "rules": parent.ask(protection_api.list_protected_environments, every).items,
        "names": names,
        "tiers": () if isinstance(parent, ProjectContext) else TIERS,
        "levels": LEVELS,
        "may_change": parent.may(protection_api.protect_environment),
    }
    return settings_page(parent, "ci/protected_environments.html", _SECTION, context, forms.status)
