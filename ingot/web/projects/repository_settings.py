"""Settings of a repository: its default branch, protected branches and tags, deploy keys."""

from functools import partial
from typing import Any

from msgspec import UNSET

from ingot.db.connection import Connection
from ingot.deploy_keys.queries import list_keys_elsewhere
from ingot.errors import NotFound
from ingot.web.pages import Page, Pages, Reply, Visit
from ingot.web.projects.forms import Forms, filled, texts_of, tried
from ingot.web.projects.place import Place
from ingot.web.projects.settings import settings_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()
LEVELS = {"40": "Maintainers", "30": "Developers and maintainers", "60": "Administrators", "0": "Nobody"}
SCOPES = {
    "read_repository": "Clone and fetch the repository",
    "read_registry": "Read images",
    "write_registry": "Write images",
    "read_package_registry": "Read packages",
    "write_package_registry": "Write packages",
}


@pages.get("/:path/-/settings/repository")
def show_settings(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """All of them."""
    return _page(settings_of(visit), Forms())


@pages.put("/:path/-/settings/default_branch")
def change_default_branch(visit: Visit) -> Reply:
    """Which branch people see first."""
    place = settings_of(visit)
    typed = texts_of(visit, "branch", ("default_branch",))
    return _tried(place, "branch", typed, "PUT", "", typed)


@pages.post("/:path/-/settings/protected_branches")
def protect_branch(visit: Visit) -> Reply:
    """Add a rule."""
    place = settings_of(visit)
    typed = texts_of(visit, "rule", ("name", "push_access_level", "merge_access_level"), ("allow_force_push",))
    return _tried(place, "rule", typed, "POST", "/protected_branches", filled(typed))


@pages.put("/:path/-/settings/protected_branches")
def change_rule(visit: Visit) -> Reply:
    """Change a rule, which the form names."""
    place = settings_of(visit)
    typed = texts_of(visit, "rule", ("name", "push_access_level", "merge_access_level"), ("allow_force_push",))
    sent = {name: value for name, value in filled(typed).items() if name != "name"}
    # The API names this method PATCH.
    return _tried(place, "rules", typed, "PATCH", "/protected_branches/:name", sent, name=typed["name"])


@pages.delete("/:path/-/settings/protected_branches")
def unprotect_branch(visit: Visit) -> Reply:
    """Remove a rule."""
    name = texts_of(visit, "rule", ("name",))["name"]
    return _tried(settings_of(visit), "rules", {}, "DELETE", "/protected_branches/:name", name=name)


@pages.post("/:path/-/settings/protected_tags")
def protect_tag(visit: Visit) -> Reply:
    """Add a rule for tags."""
    typed = texts_of(visit, "tag", ("name", "create_access_level"))
    return _tried(settings_of(visit), "tag", typed, "POST", "/protected_tags", filled(typed))


@pages.delete("/:path/-/settings/protected_tags")
def unprotect_tag(visit: Visit) -> Reply:
    """Remove a rule for tags."""
    name = texts_of(visit, "tag", ("name",))["name"]
    return _tried(settings_of(visit), "tags", {}, "DELETE", "/protected_tags/:name", name=name)


@pages.post("/:path/-/settings/deploy_keys")
def add_key(visit: Visit) -> Reply:
    """Let a machine in by its key."""
    typed = texts_of(visit, "key", ("title", "key"), ("can_push",))
    return _tried(settings_of(visit), "key", typed, "POST", "/deploy_keys", filled(typed))


@pages.put("/:path/-/settings/deploy_keys/:key")
def change_key(visit: Visit) -> Reply:
    """Whether a key may push."""
    sent = texts_of(visit, "key", (), ("can_push",))
    return _tried(settings_of(visit), "keys", {}, "PUT", "/deploy_keys/:key_id", sent, key_id=visit.path["key"])


@pages.delete("/:path/-/settings/deploy_keys/:key")
def remove_key(visit: Visit) -> Reply:
    """Let it in no more."""
    return _tried(settings_of(visit), "keys", {}, "DELETE", "/deploy_keys/:key_id", key_id=visit.path["key"])


@pages.post("/:path/-/settings/deploy_keys/:key/enable")
def enable_key(visit: Visit) -> Reply:
    """Let in a machine that another project knows."""
    return _tried(settings_of(visit), "keys", {}, "POST", "/deploy_keys/:key_id/enable", key_id=visit.path["key"])


@pages.post("/:path/-/settings/deploy_tokens")
def make_token(visit: Visit) -> Reply:
    """Make a token and show it, once."""
    place = settings_of(visit)
    typed = token_form(visit)
    try:
        made = place.call("POST", "/deploy_tokens", token_wish(typed))
    except Refusal as refusal:
        return _page(place, Forms("token", typed, sentences(refusal)))
    return _page(place, Forms(), made)


@pages.delete("/:path/-/settings/deploy_tokens/:token")
def revoke_token(visit: Visit) -> Reply:
    """Let it open nothing more."""
    return _tried(settings_of(visit), "tokens", {}, "DELETE", "/deploy_tokens/:token_id", token_id=visit.path["token"])


def token_form(visit: Visit) -> dict[str, Any]:
    """What was typed for a deploy token."""
    return texts_of(visit, "token", ("name", "username", "expires_at"), tuple(SCOPES))


def token_wish(typed: dict[str, Any]) -> dict[str, Any]:
    """The same as the API takes it."""
    texts = filled({name: typed[name] for name in ("name", "username", "expires_at")})
    return texts | {"scopes": [scope for scope in SCOPES if typed[scope]]}


def _tried(
    place: Place,
    form: str,
    typed: dict[str, Any],
    method: str,
    route: str,
    sent: dict[str, Any] | None = None,
    **path: Any,
) -> Reply:
    there = f"{place.url}/-/settings/repository"
    return tried(form, typed, lambda: place.call(method, route, sent, **path), partial(_page, place), there)


def _page(place: Place, forms: Forms, made: Any = None) -> Page:
    every, visit = {"per_page": 100}, place.visit
    context: dict[str, Any] = {
        "section": "settings/repository",
        "forms": forms,
        "levels": LEVELS,
        "scopes": SCOPES,
        "branches": _branches(place),
        "rules": place.get("/protected_branches", every).items,
        "tag_rules": place.get("/protected_tags", every).items,
        "keys": place.get("/deploy_keys", every).items,
        "elsewhere": visit.database.read(lambda db: list_keys_elsewhere(db, visit.actor, place.project.id)),
        "tokens": place.get("/deploy_tokens", every).items,
        "secret": made.token if made is not None and made.token is not UNSET else "",
        "made": made,
        "may_change": place.may("PUT", ""),
    }
    return place.page("projects/repository.html", "settings", context, forms.status)


def _branches(place: Place) -> list[str]:
    if place.project.empty_repo:
        return []
    try:
        return [branch.name for branch in place.get("/repository/branches", {"per_page": 100}).items]
    except NotFound:
        return []
