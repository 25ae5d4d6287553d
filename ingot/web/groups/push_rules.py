"""Push rules of projects and groups."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ingot.core.errors import NotFound
from ingot.repositories.push_rules import api as push_rules_api
from ingot.repositories.push_rules.views import GroupPushRuleView
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
TEXTS = {
    "commit_message_regex": "Commit messages must match",
    "commit_message_negative_regex": "Commit messages must not match",
    "branch_name_regex": "Names of new branches must match",
    "author_email_regex": "Email addresses of authors must match",
    "file_name_regex": "Names of files must not match",
}
FLAGS = {
    "deny_delete_tag": "Tags cannot be deleted",
    "member_check": "Authors must be users of this server",
    "commit_committer_check": "Users push only commits with their own email address",
    "commit_committer_name_check": "Users push only commits with their own name",
    "reject_unsigned_commits": "Pushed commits must be signed",
    "reject_non_dco_commits": "Commit messages must have a line Signed-off-by",
    "prevent_secrets": "Files that usually contain secrets are refused",
}


def _declare_pages(prefix: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the pages of the push rule of projects or of groups."""
    pages.get(prefix)(lambda visit: _page(find_parent(visit), FormsState()))
    pages.put(prefix, notice="Push rules saved.")(lambda visit: _save(find_parent(visit)))


def _save(parent: ProjectOrGroupContext) -> PageResponse:
    """Create or change the push rule."""
    typed = form_values(parent.visit, "rule", (*TEXTS, "max_file_size"), tuple(FLAGS))
    params = {**typed, "max_file_size": typed["max_file_size"].strip() or "0"}
    add = parent.either(push_rules_api.add_push_rule, push_rules_api.add_group_push_rule)
    edit = parent.either(push_rules_api.edit_push_rule, push_rules_api.edit_group_push_rule)
    endpoint = add if _rule(parent) is None else edit
    url = f"{parent.url}/-/settings/push_rules"
    return submit_form("rule", typed, lambda: parent.ask(endpoint, params), partial(_page, parent), url)


def _rule(parent: ProjectOrGroupContext) -> GroupPushRuleView | None:
    if isinstance(parent, ProjectContext):
        return parent.ask(push_rules_api.get_push_rule)
    try:
        return parent.ask(push_rules_api.get_group_push_rule)
    except NotFound:
        return None


def _page(parent: ProjectOrGroupContext, forms: FormsState) -> TemplateResponse:
    context: dict[str, Any] = {
        "forms": forms,
        "texts": TEXTS,
        "flags": FLAGS,
        "rule": _rule(parent),
        "may_change": parent.may(parent.either(push_rules_api.edit_push_rule, push_rules_api.edit_group_push_rule)),
    }
    return settings_page(parent, "groups/push_rules.html", "settings/push_rules", context, forms.status)


_declare_pages("/:path/-/settings/push_rules", find_project_settings)
_declare_pages("/groups/:path/-/settings/push_rules", find_group_settings)
