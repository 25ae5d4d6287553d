"""Push and pull mirrors of a project."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ingot.core.errors import Invalid
from ingot.core.outgoing.ssh_urls import is_ssh_url
from ingot.projects.projects import api as projects_api
from ingot.repositories.mirrors import api as mirrors_api
from ingot.repositories.mirrors.params import CreateMirror
from ingot.repositories.mirrors.views import RemoteMirrorView
from ingot.repositories.pull_mirrors import api as pull_mirrors_api
from ingot.repositories.pull_mirrors.views import PullMirrorView
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import FormsState, form_values, submit_form
from ingot.web.projects.option_fields import declared_effects, project_effects
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()
_FLAGS = {
    "only_protected_branches": "Mirror only protected branches",
    "keep_divergent_refs": "Keep branches that have diverged",
}
_PULL_FLAGS = {
    "only_mirror_protected_branches": "Mirror only protected branches",
    "mirror_overwrites_diverged_branches": "Overwrite branches that have diverged",
    "mirror_trigger_builds": "Start pipelines for mirrored changes",
}
STATUSES = {"none": "Not updated yet", "started": "Update in progress", "finished": "Up to date", "failed": "Failed"}


@pages.get("/:path/-/settings/mirrors")
def show_mirrors(visit: Visit) -> PageResponse:
    """List the mirrors with the results of their last updates."""
    return _page(find_project_settings(visit), FormsState())


@pages.post("/:path/-/settings/mirrors", notice="Mirror added.")
def create_mirror(visit: Visit) -> PageResponse:
    """Add an enabled mirror."""
    typed = form_values(visit, "mirror", ("url",), tuple(_FLAGS))
    shown = {**typed, "url": ""}  # The URL may contain a password.
    method = "ssh_public_key" if is_ssh_url(str(typed["url"]).strip()) else "password"
    return _submit(visit, "mirror", shown, mirrors_api.create_mirror, {**typed, "enabled": True, "auth_method": method})


@pages.post("/:path/-/settings/mirrors/:mirror/sync", notice="Update started.")
def update_mirror(visit: Visit) -> PageResponse:
    """Start an update."""
    return _submit(visit, "mirrors", {}, mirrors_api.update_mirror, mirror_id=visit.request.path["mirror"])


@pages.put("/:path/-/settings/mirrors/:mirror", notice="Mirror saved.")
def change_mirror(visit: Visit) -> PageResponse:
    """Enable or disable a mirror."""
    params = form_values(visit, "mirror", (), ("enabled",))
    return _submit(visit, "mirrors", {}, mirrors_api.edit_mirror, params, mirror_id=visit.request.path["mirror"])


@pages.delete("/:path/-/settings/mirrors/:mirror", notice="Mirror removed.")
def delete_mirror(visit: Visit) -> PageResponse:
    """Remove a mirror."""
    return _submit(visit, "mirrors", {}, mirrors_api.delete_mirror, mirror_id=visit.request.path["mirror"])


@pages.put("/:path/-/settings/pull_mirror", notice="Pull mirror saved.")
def change_pull_mirror(visit: Visit) -> PageResponse:
    """Create or change the pull mirror; an empty URL keeps the stored one."""
    typed = form_values(visit, "pull", ("url", "mirror_branch_regex"), ("enabled", *_PULL_FLAGS))
    params = {name: value for name, value in typed.items() if name != "url" or value.strip()}
    if is_ssh_url(str(typed["url"]).strip()):
        params["auth_method"] = "ssh_public_key"
    return _submit(visit, "pull", {**typed, "url": ""}, pull_mirrors_api.configure_pull_mirror, params)


@pages.post("/:path/-/settings/pull_mirror/update", notice="Update started.")
def update_pull_mirror(visit: Visit) -> PageResponse:
    """Start an update of the pull mirror."""
    return _submit(visit, "pull", {}, pull_mirrors_api.start_pull)


def _pull_mirror_or_none(parent: ProjectContext) -> PullMirrorView | None:
    try:
        mirror: PullMirrorView = parent.ask(pull_mirrors_api.get_pull_mirror)
    except Invalid:  # Most projects have none.
        return None
    return mirror


def _submit(
    visit: Visit,
    form: str,
    typed: dict[str, Any],
    endpoint: Callable[..., object],
    params: dict[str, Any] | None = None,
    **path: object,
) -> PageResponse:
    parent = find_project_settings(visit)
    url = f"{parent.url}/-/settings/mirrors"
    return submit_form(form, typed, lambda: parent.ask(endpoint, params, **path), partial(_page, parent), url)


def _public_keys(parent: ProjectContext, mirrors: Sequence[RemoteMirrorView]) -> dict[int, str]:
    """Return the keys of the mirrors over SSH, of which a project has few."""
    return {
        mirror.id: parent.ask(mirrors_api.get_mirror_key, mirror_id=mirror.id).public_key
        for mirror in mirrors
        if mirror.auth_method == "ssh_public_key"
    }


def _page(parent: ProjectContext, forms: FormsState) -> TemplateResponse:
    mirrors = parent.ask(mirrors_api.list_mirrors, {"per_page": 100}).items
    context: dict[str, Any] = {
        "section": "settings/mirrors",
        "forms": forms,
        "flags": _FLAGS,
        "flag_effects": declared_effects(CreateMirror),
        "statuses": STATUSES,
        "mirrors": mirrors,
        "public_keys": _public_keys(parent, mirrors),
        "pull": _pull_mirror_or_none(parent),
        "pull_flags": _PULL_FLAGS,
        "effects": project_effects(),
        "may_change": parent.may(projects_api.edit_project),
    }
    return parent.page("projects/mirrors.html", "settings", context, forms.status)
