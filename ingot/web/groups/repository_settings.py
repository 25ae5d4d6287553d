"""Repository settings of a group: protected branches and deploy tokens."""

from typing import Any

from msgspec import UNSET

from ingot.projects.deploy_tokens import api as deploy_tokens_api
from ingot.repositories.group_protection import api as group_protection_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import GroupContext
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.forms import FormsState, form_values, nonempty_values, submit_repository_form
from ingot.web.projects.repository_settings import PROTECTION_LEVELS, token_form_values
from ingot.web.scope_labels import DEPLOY_SCOPE_DESCRIPTIONS

pages = PageRoutes()
_RULE_FIELDS = ("name", "push_access_level", "merge_access_level")


@pages.get("/groups/:path/-/settings/repository")
def show_settings(visit: Visit) -> PageResponse:
    """Show the repository settings of a group."""
    return _show(find_group_settings(visit), FormsState())


@pages.post("/groups/:path/-/settings/protected_branches", notice="Branch protected.")
def protect_branch(visit: Visit) -> PageResponse:
    """Protect a branch or wildcard in all projects of a group."""
    typed = form_values(visit, "rule", _RULE_FIELDS, ("allow_force_push",))
    params = nonempty_values(typed)
    return submit_repository_form(
        find_group_settings(visit), _show, "rule", typed, group_protection_api.add_group_protected_branch, params
    )


@pages.put("/groups/:path/-/settings/protected_branches", notice="Branch protection saved.")
def change_rule(visit: Visit) -> PageResponse:
    """Change the protection of the branch named in the form."""
    typed = form_values(visit, "rule", _RULE_FIELDS, ("allow_force_push",))
    params = {name: value for name, value in nonempty_values(typed).items() if name != "name"}
    change = group_protection_api.edit_group_protected_branch
    return submit_repository_form(find_group_settings(visit), _show, "rules", typed, change, params, name=typed["name"])


@pages.delete("/groups/:path/-/settings/protected_branches", notice="Branch protection removed.")
def unprotect_branch(visit: Visit) -> PageResponse:
    """Unprotect a branch."""
    name = form_values(visit, "rule", ("name",))["name"]
    remove = group_protection_api.remove_group_protected_branch
    return submit_repository_form(find_group_settings(visit), _show, "rules", {}, remove, name=name)


@pages.post("/groups/:path/-/settings/deploy_tokens")
def create_token(visit: Visit) -> PageResponse:
    """Create a deploy token and show its value once."""
    parent = find_group_settings(visit)
    typed = token_form_values(visit)
    try:
        created = parent.ask(deploy_tokens_api.create_deploy_token, nonempty_values(typed))
    except REQUEST_ERRORS as error:
        return _show(parent, FormsState("token", typed, error_messages(error)))
    return _show(parent, FormsState(), created)


@pages.delete("/groups/:path/-/settings/deploy_tokens/:token", notice="Deploy token revoked.")
def revoke_token(visit: Visit) -> PageResponse:
    """Revoke a deploy token."""
    revoke, token_id = deploy_tokens_api.delete_deploy_token, visit.request.path["token"]
    return submit_repository_form(find_group_settings(visit), _show, "tokens", {}, revoke, token_id=token_id)


def _show(parent: GroupContext, forms: FormsState, created: Any = None) -> TemplateResponse:
    every = {"per_page": 100}
    context = {
        "forms": forms,
        "levels": PROTECTION_LEVELS,
        "rules": parent.ask(group_protection_api.list_group_protected_branches, every).items,
        "tokens": parent.ask(deploy_tokens_api.list_deploy_tokens, every).items,
        "scopes": DEPLOY_SCOPE_DESCRIPTIONS,
        "created": created,
        "secret": created.token if created is not None and created.token is not UNSET else "",
    }
    return settings_page(parent, "groups/repository.html", "settings/repository", context, forms.status)
