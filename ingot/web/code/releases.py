"""Releases: what came out when, with what there is to download."""

from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.pages import Elsewhere, Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences
from ingot.web.texts import html_of

pages = Pages()
_FIELDS = ("tag_name", "ref", "name", "description", "tag_message")


@pages.get("/:path/-/releases", open=True)
def show_releases(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The releases, newest first."""
    place = place_of(visit)
    listing = place.get("/releases", {"page": str(visit.query.get("page", "1")), "per_page": "10"})
    context = {"releases": listing, **_common(place)}
    return place.page("code/releases.html", "code", context)


@pages.get("/:path/-/releases/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask for a tag and what is told about it."""
    place = place_of(visit)
    typed = dict.fromkeys(_FIELDS, "") | {"ref": place.project.default_branch or ""}
    return _form(place, typed | {"tag_name": str(visit.query.get("tag_name", ""))}, new=True)


@pages.get("/:path/-/releases/permalink/latest", open=True)
def show_latest(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The one that came out last."""
    place = place_of(visit)
    return Redirect(f"{place.url}/-/releases/{quote(place.get('/releases/permalink/latest').tag_name, safe='')}")


@pages.get("/:path/-/releases/:tag", open=True)
def show_release(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """One release."""
    place = place_of(visit)
    release = place.get("/releases/:tag_name", tag_name=visit.path["tag"])
    return place.page("code/release.html", "code", {"release": release, **_common(place)})


@pages.get("/:path/-/releases/:tag/edit")
def show_edit(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """A release to be changed."""
    place = place_of(visit)
    release = place.get("/releases/:tag_name", tag_name=visit.path["tag"])
    typed = {"tag_name": release.tag_name, "name": release.name, "description": release.description or ""}
    return _form(place, typed, new=False)


@pages.get("/:path/-/releases/:tag/downloads/:rest", open=True, slashes="rest")
def show_download(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Lead to what a release links to under this name."""
    place = place_of(visit)
    release = place.get("/releases/:tag_name", tag_name=visit.path["tag"])
    wanted = f"/downloads/{quote(visit.path['rest'])}", f"/downloads/{visit.path['rest']}"
    for link in release.assets.links:
        named = link.direct_asset_url != link.url and link.direct_asset_url.endswith(wanted)
        if named and link.url.startswith(("https://", "http://")):
            return Elsewhere(link.url)
    raise NotFound("Link")


@pages.post("/:path/-/releases")
def create_release(visit: Visit) -> Reply:
    """Make one, and its tag where there is none."""
    place, typed = place_of(visit), {name: str(visit.form.get(name, "")) for name in _FIELDS}
    try:
        release = place.call("POST", "/releases", {name: value for name, value in typed.items() if value})
    except Refusal as refusal:
        return _form(place, typed, sentences(refusal), 422, new=True)
    return Redirect(f"{place.url}/-/releases/{quote(release.tag_name, safe='')}")


@pages.put("/:path/-/releases/:tag")
def edit_release(visit: Visit) -> Reply:
    """Tell something else."""
    place, tag = place_of(visit), visit.path["tag"]
    typed = {name: str(visit.form.get(name, "")) for name in ("name", "description")}
    try:
        place.call("PUT", "/releases/:tag_name", typed, tag_name=tag)
    except Refusal as refusal:
        return _form(place, {**typed, "tag_name": tag}, sentences(refusal), 422, new=False)
    return Redirect(f"{place.url}/-/releases/{quote(tag, safe='')}")


@pages.delete("/:path/-/releases/:tag")
def delete_release(visit: Visit) -> Reply:
    """Take it back; its tag stays."""
    place = place_of(visit)
    place.call("DELETE", "/releases/:tag_name", tag_name=visit.path["tag"])
    return Redirect(f"{place.url}/-/releases")


def _common(place: Place) -> dict[str, Any]:
    def shown(text: str | None) -> Any:
        return html_of(place.visit, text, place.project.id)

    return {"html": shown, "may_write": place.may("POST", "/releases")}


def _form(
    place: Place, typed: dict[str, str], errors: list[str] | None = None, status: int = 200, *, new: bool
) -> Page:
    context = {"typed": typed, "errors": errors or [], "new": new, "may_write": place.may("POST", "/releases")}
    return place.page("code/release_form.html", "code", context, status)
