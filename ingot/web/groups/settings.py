"""Making a group, its settings, its deploy tokens, and what is dangerous to do with it."""

from functools import partial
from typing import Any

from msgspec import UNSET

from ingot.db.connection import Connection
from ingot.web.groups.place import ground_page, group_settings_of
from ingot.web.issues.group_place import GroupPlace
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects import general
from ingot.web.projects.forms import Forms, filled, texts_of, tried
from ingot.web.projects.general import Parts, part_of
from ingot.web.projects.namespaces import offered_groups, path_of_namespace, typed_namespace
from ingot.web.projects.repository_settings import SCOPES, token_form, token_wish
from ingot.web.projects.settings import VISIBILITIES
from ingot.web.refusals import Refusal, sentences

pages = Pages()
FLAGS = {
    "request_access_enabled": "People may ask for access",
    "share_with_group_lock": "Its projects are not shared with other groups",
    "lfs_enabled": "Large files (Git LFS)",
}
CREATION = {
    "developer": "Developers and above",
    "maintainer": "Maintainers and above",
    "owner": "Owners",
    "administrator": "Administrators",
    "noone": "Nobody",
}
_PARTS: Parts = {
    "general": (("name", "description", "visibility", "project_creation_level"), tuple(FLAGS)),
    "path": (("path",), ()),
}


@pages.get("/groups/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask what it shall be called; ``parent_id`` says in which group."""
    return _new(visit, Forms("group", {"parent_id": str(visit.query.get("parent_id", ""))}))


@pages.post("/groups")
def create_group(visit: Visit) -> Reply:
    """Make it, and lead to it."""
    typed = texts_of(visit, "group", ("name", "path", "parent_id", "parent", "description", "visibility"))
    try:
        group = visit.call("POST", "/groups", _with_parent(visit, typed, "parent_id"))
    except Refusal as refusal:
        return _new(visit, Forms("group", typed, sentences(refusal)))
    return Redirect(f"/groups/{group.full_path}")


def _with_parent(visit: Visit, typed: dict[str, Any], name: str) -> dict[str, Any]:
    """What is sent: the number of the group whose path was typed, where there are too many to choose from."""
    sent = filled({field: value for field, value in typed.items() if field != "parent"})
    return sent | {name: typed_namespace(visit, typed["parent"]).id} if typed["parent"] else sent


def _new(visit: Visit, forms: Forms) -> Page:
    offered = offered_groups(visit)
    parent = forms.value("group", "parent")
    if offered.more and not parent:
        parent = path_of_namespace(visit, forms.value("group", "parent_id"))
    context = {"forms": forms, "offered": offered, "parent": parent, "visibilities": VISIBILITIES}
    return Page("groups/new.html", context, forms.status)


@pages.get("/groups/:path/-/edit")
def show_settings(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What is set."""
    return _page(group_settings_of(visit), Forms())


@pages.put("/groups/:path/-/edit")
def change_settings(visit: Visit) -> Reply:
    """Change what one of the forms holds; another path leads elsewhere."""
    place = group_settings_of(visit)
    part, typed = part_of(visit, _PARTS)
    above = place.group.full_path.rpartition("/")[0]
    path = "/".join(filter(None, (above, typed.get("path") or place.group.path)))
    act = partial(place.call, "PUT", "", typed)
    return tried(part, typed, act, partial(_page, place), f"/groups/{path}/-/edit")


@pages.post("/groups/:path/-/settings/avatar")
def change_picture(visit: Visit) -> Reply:
    """Show another picture, or none."""
    place = group_settings_of(visit)
    return general.change_picture(place, partial(_page, place))


@pages.put("/groups/:path/-/settings/transfer")
def transfer(visit: Visit) -> Reply:
    """Put it into another group, or to the top."""
    place = group_settings_of(visit)
    typed = texts_of(visit, "transfer", ("group_id", "parent"))
    try:
        group = place.call("POST", "/transfer", _with_parent(visit, typed, "group_id"))
    except Refusal as refusal:
        return _page(place, Forms("transfer", typed, sentences(refusal)))
    return Redirect(f"/groups/{group.full_path}")


@pages.delete("/groups/:path/-/edit")
def delete(visit: Visit) -> Reply:
    """Delete it with everything in it, for those who typed its path, and show how that goes."""
    place = group_settings_of(visit)
    every = {"include_subgroups": "true", "with_shared": "false", "per_page": 1}
    projects = place.get("/projects", every).total or 0
    return general.delete(place, place.group.full_path, projects, partial(_page, place))


def _page(place: GroupPlace, forms: Forms) -> Page:
    group = place.group
    offered = offered_groups(place.visit)
    below = f"{group.full_path}/"
    context: dict[str, Any] = {
        "forms": forms,
        "flags": FLAGS,
        "creation": CREATION,
        "visibilities": VISIBILITIES,
        "owned": [
            ("", "No other group"),
            *(
                (each.id, each.full_path)
                for each in offered.items
                if each.id != group.id and not each.full_path.startswith(below)
            ),
        ],
        "searched": offered.items if offered.more else [],
    }
    return ground_page(place, "groups/edit.html", "edit", context, forms.status)


@pages.get("/groups/:path/-/settings/repository")
def show_tokens(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Its deploy tokens."""
    return _tokens(group_settings_of(visit), Forms())


@pages.post("/groups/:path/-/settings/deploy_tokens")
def make_token(visit: Visit) -> Reply:
    """Make a token and show it, once."""
    place = group_settings_of(visit)
    typed = token_form(visit)
    try:
        made = place.call("POST", "/deploy_tokens", token_wish(typed))
    except Refusal as refusal:
        return _tokens(place, Forms("token", typed, sentences(refusal)))
    return _tokens(place, Forms(), made)


@pages.delete("/groups/:path/-/settings/deploy_tokens/:token")
def revoke_token(visit: Visit) -> Reply:
    """Let it open nothing more."""
    place = group_settings_of(visit)
    place.call("DELETE", "/deploy_tokens/:token_id", token_id=visit.path["token"])
    return Redirect(f"{place.url}/-/settings/repository")


def _tokens(place: GroupPlace, forms: Forms, made: Any = None) -> Page:
    context = {
        "forms": forms,
        "scopes": SCOPES,
        "tokens": place.get("/deploy_tokens", {"per_page": 100}).items,
        "made": made,
        "secret": made.token if made is not None and made.token is not UNSET else "",
    }
    return ground_page(place, "groups/tokens.html", "settings/repository", context, forms.status)
