"""Approval rules and approval settings of a project."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.collaboration.merge_requests.approval_settings import api as approvals_api
from ingot.collaboration.merge_requests.approval_settings.params import EditApprovalSettings
from ingot.core.errors import NotFound
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.option_fields import declared_effects
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
FLAGS = {
    "reset_approvals_on_push": "A push removes all approvals",
    "merge_requests_author_approval": "Authors may approve their own merge requests",
    "merge_requests_disable_committers_approval": "Users who add commits may not approve",
    "disable_overriding_approvers_per_merge_request": "Merge requests cannot have rules of their own",
    "require_password_to_approve": "Users enter their password to approve",
}
_MAX_RULES = 100
_AUTHORS = "merge_requests_author_approval"


@pages.get("/:path/-/settings/approval_rules")
def show_approval_rules(visit: Visit) -> PageResponse:
    """Show the approval rules and settings."""
    return _page(find_project_settings(visit), FormsState())


@pages.put("/:path/-/settings/approval_rules", notice="Approval settings saved.")
def change_approval_settings(visit: Visit) -> PageResponse:
    """Change the approval settings."""
    typed = form_values(visit, "approvals", ("approvals_before_merge",), tuple(FLAGS))
    params = {**typed, "approvals_before_merge": typed["approvals_before_merge"].strip() or "0"}
    shown = find_project_settings(visit).ask(approvals_api.get_approval_settings)
    if typed[_AUTHORS] == shown.merge_requests_author_approval:
        del params[_AUTHORS]  # False is a choice, unlike a box that was empty before.
    return _submit(visit, "approvals", typed, approvals_api.edit_approval_settings, params)


@pages.post("/:path/-/settings/approval_rules", notice="Approval rule added.")
def create_approval_rule(visit: Visit) -> PageResponse:
    """Add an approval rule."""
    typed = form_values(visit, "rule", ("name", "approvals_required", "usernames", "groups"), ("protected",))
    params = {
        "name": typed["name"],
        "approvals_required": typed["approvals_required"],
        "usernames": words(typed["usernames"]),
        "group_ids": _group_ids(visit, words(typed["groups"])),
        "applies_to_all_protected_branches": typed["protected"],
    }
    return _submit(visit, "rule", typed, approvals_api.create_project_approval_rule, params)


@pages.delete("/:path/-/settings/approval_rules/:rule", notice="Approval rule removed.")
def delete_approval_rule(visit: Visit) -> PageResponse:
    """Remove an approval rule."""
    rule_id = visit.request.path["rule"]
    return _submit(visit, "rules", {}, approvals_api.delete_project_approval_rule, approval_rule_id=rule_id)


def words(text: str) -> list[str]:
    """Return the names in a field, separated by spaces or commas, without leading signs for users."""
    return [word.lstrip("@") for word in text.replace(",", " ").split()]


def _group_ids(visit: Visit, paths: list[str]) -> list[int]:
    """Return the ids of the groups that the viewer sees; others are ignored, as by the endpoint."""
    found = []
    for path in paths:
        try:
            found.append(visit.ask(group_projects_api.get_group, id=path).id)
        except NotFound:
            continue
    return found


def _submit(
    visit: Visit,
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., Any],
    params: dict[str, Any] | None = None,
    **path: str,
) -> PageResponse:
    parent = find_project_settings(visit)
    url = f"{parent.url}/-/settings/approval_rules"
    return submit_form(form, typed, lambda: parent.ask(endpoint, params or {}, **path), partial(_page, parent), url)


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    context: dict[str, Any] = {
        "section": "settings/approval_rules",
        "forms": forms,
        "flags": FLAGS,
        "effects": declared_effects(EditApprovalSettings),
        "settings": parent.ask(approvals_api.get_approval_settings),
        "rules": parent.ask(approvals_api.list_project_approval_rules, {"per_page": _MAX_RULES}).items,
        "may_change": parent.may(projects_api.edit_project),
    }
    return parent.page("projects/approval_rules.html", "settings", context, forms.status)
