"""Push rule of a project."""

from functools import partial
from typing import Any

from ingot.projects.projects import api as projects_api
from ingot.repositories.push_rules import api as push_rules_api
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


@pages.get("/:path/-/settings/push_rules")
def show_push_rules(visit: Visit) -> PageResponse:
    """Show the push rule."""
    return _page(find_project_settings(visit), FormsState())


@pages.put("/:path/-/settings/push_rules", notice="Push rules saved.")
def change_push_rules(visit: Visit) -> PageResponse:
    """Create or change the push rule."""
    parent = find_project_settings(visit)
    typed = form_values(visit, "rule", (*TEXTS, "max_file_size"), tuple(FLAGS))
    params = {**typed, "max_file_size": typed["max_file_size"].strip() or "0"}
    exists = parent.ask(push_rules_api.get_push_rule) is not None
    endpoint = push_rules_api.edit_push_rule if exists else push_rules_api.add_push_rule
    url = f"{parent.url}/-/settings/push_rules"
    return submit_form("rule", typed, lambda: parent.ask(endpoint, params), partial(_page, parent), url)


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    context: dict[str, Any] = {
        "section": "settings/push_rules",
        "forms": forms,
        "texts": TEXTS,
        "flags": FLAGS,
        "rule": parent.ask(push_rules_api.get_push_rule),
        "may_change": parent.may(projects_api.edit_project),
    }
    return parent.page("projects/push_rules.html", "settings", context, forms.status)
