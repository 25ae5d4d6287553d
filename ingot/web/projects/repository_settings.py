"""Repository settings: default branch, protected branches and tags, deploy keys and deploy tokens."""

from typing import Any

from msgspec import UNSET

from ingot.core.errors import NotFound
from ingot.projects.deploy_keys import api as deploy_keys_api
from ingot.projects.deploy_keys.views import keys_of_other_projects
from ingot.projects.deploy_tokens import api as deploy_tokens_api
from ingot.projects.projects import api as projects_api
from ingot.repositories.branches import api as branches_api
from ingot.repositories.protection import api as protection_api
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_list, form_values, nonempty_values, submit_repository_form
from ingot.web.projects.option_fields import project_effects
from ingot.web.projects.settings import find_project_settings
from ingot.web.scope_labels import DEPLOY_SCOPE_DESCRIPTIONS

pages = PageRoutes()
PROTECTION_LEVELS = {"40": "Maintainers", "30": "Developers and maintainers", "60": "Administrators", "0": "No one"}
_TOKEN_FIELDS = ("name", "username", "expires_at")


@pages.get("/:path/-/settings/repository")
def show_settings(visit: Visit) -> PageResponse:
    """Show the repository settings."""
    return _show(find_project_settings(visit), FormsState())


@pages.put("/:path/-/settings/default_branch", notice="Default branch changed.")
def change_default_branch(visit: Visit) -> PageResponse:
    """Change the default branch."""
    parent = find_project_settings(visit)
    typed = form_values(visit, "branch", ("default_branch",))
    return submit_repository_form(parent, _show, "branch", typed, projects_api.edit_project, typed)


@pages.post("/:path/-/settings/protected_branches", notice="Branch protected.")
def protect_branch(visit: Visit) -> PageResponse:
    """Protect a branch or wildcard."""
    parent = find_project_settings(visit)
    typed = form_values(visit, "rule", ("name", "push_access_level", "merge_access_level"), ("allow_force_push",))
    return submit_repository_form(
        parent, _show, "rule", typed, protection_api.add_protected_branch, nonempty_values(typed)
    )


@pages.put("/:path/-/settings/protected_branches", notice="Branch protection saved.")
def change_rule(visit: Visit) -> PageResponse:
    """Change the protection of the branch named in the form."""
    parent = find_project_settings(visit)
    typed = form_values(
        visit, "rule", ("name", "push_access_level", "merge_access_level", "deploy_key"), ("allow_force_push",)
    )
    params = {name: value for name, value in nonempty_values(typed).items() if name not in ("name", "deploy_key")}
    if typed["deploy_key"]:
        params["allowed_to_push"] = [{"deploy_key_id": typed["deploy_key"]}]
    return submit_repository_form(
        parent, _show, "rules", typed, protection_api.edit_protected_branch, params, name=typed["name"]
    )


@pages.delete(
    "/:path/-/settings/protected_branches/deploy_keys", notice="Deploy key removed from the branch protection."
)
def disallow_key(visit: Visit) -> PageResponse:
    """Remove the permission of a deploy key to push to a protected branch."""
    parent = find_project_settings(visit)
    typed = form_values(visit, "rule", ("name", "deploy_key"))
    params = {"allowed_to_push": [{"deploy_key_id": typed["deploy_key"], "_destroy": True}]}
    return submit_repository_form(
        parent, _show, "rules", {}, protection_api.edit_protected_branch, params, name=typed["name"]
    )


@pages.delete("/:path/-/settings/protected_branches", notice="Branch protection removed.")
def unprotect_branch(visit: Visit) -> PageResponse:
    """Unprotect a branch."""
    name = form_values(visit, "rule", ("name",))["name"]
    return submit_repository_form(
        find_project_settings(visit), _show, "rules", {}, protection_api.remove_protected_branch, name=name
    )


@pages.post("/:path/-/settings/protected_tags", notice="Tag protected.")
def protect_tag(visit: Visit) -> PageResponse:
    """Protect a tag or wildcard."""
    typed = form_values(visit, "tag", ("name", "create_access_level"))
    return submit_repository_form(
        find_project_settings(visit), _show, "tag", typed, protection_api.add_protected_tag, nonempty_values(typed)
    )


@pages.delete("/:path/-/settings/protected_tags", notice="Tag protection removed.")
def unprotect_tag(visit: Visit) -> PageResponse:
    """Unprotect a tag."""
    name = form_values(visit, "tag", ("name",))["name"]
    return submit_repository_form(
        find_project_settings(visit), _show, "tags", {}, protection_api.remove_protected_tag, name=name
    )


@pages.post("/:path/-/settings/deploy_keys", notice="Deploy key added.")
def add_key(visit: Visit) -> PageResponse:
    """Add a deploy key."""
    typed = form_values(visit, "key", ("title", "key"), ("can_push",))
    return submit_repository_form(
        find_project_settings(visit), _show, "key", typed, deploy_keys_api.create_deploy_key, nonempty_values(typed)
    )


@pages.put("/:path/-/settings/deploy_keys/:key", notice="Deploy key saved.")
def change_key(visit: Visit) -> PageResponse:
    """Change whether a deploy key can push."""
    params = form_values(visit, "key", (), ("can_push",))
    return submit_repository_form(
        find_project_settings(visit),
        _show,
        "keys",
        {},
        deploy_keys_api.edit_deploy_key,
        params,
        key_id=visit.request.path["key"],
    )


@pages.delete("/:path/-/settings/deploy_keys/:key", notice="Deploy key removed.")
def remove_key(visit: Visit) -> PageResponse:
    """Remove a deploy key."""
    return submit_repository_form(
        find_project_settings(visit),
        _show,
        "keys",
        {},
        deploy_keys_api.delete_deploy_key,
        key_id=visit.request.path["key"],
    )


@pages.post("/:path/-/settings/deploy_keys/:key/enable", notice="Deploy key enabled.")
def enable_key(visit: Visit) -> PageResponse:
    """Enable a deploy key of another project."""
    return submit_repository_form(
        find_project_settings(visit),
        _show,
        "keys",
        {},
        deploy_keys_api.enable_deploy_key,
        key_id=visit.request.path["key"],
    )


@pages.post("/:path/-/settings/deploy_tokens")
def create_token(visit: Visit) -> PageResponse:
    """Create a deploy token and show its value once."""
    parent = find_project_settings(visit)
    typed = token_form_values(visit)
    try:
        created = parent.ask(deploy_tokens_api.create_deploy_token, nonempty_values(typed))
    except REQUEST_ERRORS as error:
        return _show(parent, FormsState("token", typed, error_messages(error)))
    return _show(parent, FormsState(), created)


@pages.delete("/:path/-/settings/deploy_tokens/:token", notice="Deploy token revoked.")
def revoke_token(visit: Visit) -> PageResponse:
    """Revoke a deploy token."""
    return submit_repository_form(
        find_project_settings(visit),
        _show,
        "tokens",
        {},
        deploy_tokens_api.delete_deploy_token,
        token_id=visit.request.path["token"],
    )


def token_form_values(visit: Visit) -> dict[str, Any]:
    """Return the values of the deploy token form."""
    return form_values(visit, "token", _TOKEN_FIELDS) | {"scopes": form_list(visit, "token", "scopes")}


def _show(parent: ProjectContext, forms: FormsState, created: Any = None) -> TemplateResponse:
    every, visit = {"per_page": 100}, parent.visit
    keys = parent.ask(deploy_keys_api.list_deploy_keys, every).items
    context: dict[str, Any] = {
        "effects": project_effects(),
        "section": "settings/repository",
        "forms": forms,
        "levels": PROTECTION_LEVELS,
        "branches": _branches(parent),
        "rules": parent.ask(protection_api.list_protected_branches, every).items,
        "tag_rules": parent.ask(protection_api.list_protected_tags, every).items,
        "keys": keys,
        "pushing_keys": [key for key in keys if key.can_push],
        "other_keys": visit.database.read(lambda db: keys_of_other_projects(db, visit.viewer.actor, parent.project.id)),
        "tokens": parent.ask(deploy_tokens_api.list_deploy_tokens, every).items,
        "scopes": DEPLOY_SCOPE_DESCRIPTIONS,
        "secret": created.token if created is not None and created.token is not UNSET else "",
        "created": created,
        "may_change": parent.may(projects_api.edit_project),
    }
    return parent.page("projects/repository.html", "settings", context, forms.status)


def _branches(parent: ProjectContext) -> list[str]:
    if parent.project.empty_repo:
        return []
    try:
        return [branch.name for branch in parent.ask(branches_api.list_branches, {"per_page": 100}).items]
    except NotFound:
        return []
