"""Tags: the list, one by itself, a new one, and what is told about them."""

from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.web.code.pipelines import outcomes_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, text_of
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences
from ingot.web.texts import html_of

pages = Pages()
_ORDERS = {"updated": "Newest first", "version": "By version", "name": "By name"}
_FIELDS = ("tag_name", "ref", "message", "release_description")


@pages.get("/:path/-/tags", open=True)
def show_tags(visit: Visit, db: Connection) -> Reply:
    """The tags with what they mark."""
    place = place_of(visit)
    order = text_of(visit.query, "order_by")
    order = order if order in _ORDERS else "updated"
    search = text_of(visit.query, "search")
    asked = {"search": search, "order_by": order, "page": str(visit.query.get("page", "1")), "per_page": "30"}
    tags = place.get("/repository/tags", asked)
    context: dict[str, Any] = {
        "tags": tags,
        "outcomes": outcomes_of(place, db, [tag.commit for tag in tags.items if tag.commit]),
        "may_delete": _may_delete(place),
        "search": search,
        "order": order,
        "orders": _ORDERS,
        "may_write": place.may("POST", "/repository/tags"),
    }
    return place.page("code/tags.html", "code", context)


@pages.get("/:path/-/tags/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask for a name and what it marks."""
    place = place_of(visit)
    ref = str(visit.query.get("ref", place.project.default_branch or ""))
    return _form(place, dict.fromkeys(_FIELDS, "") | {"ref": ref})


@pages.get("/:path/-/tags/:name", open=True, slashes="name")
def show_tag(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """A tag with its message and its release notes."""
    return _show(place_of(visit))


@pages.post("/:path/-/tags")
def create_tag(visit: Visit) -> Reply:
    """Make one, and show it."""
    place = place_of(visit)
    typed = {name: str(visit.form.get(name, "")) for name in _FIELDS}
    try:
        tag = place.call("POST", "/repository/tags", {name: value for name, value in typed.items() if value})
    except Refusal as refusal:
        return _form(place, typed, sentences(refusal), 422)
    return Redirect(f"{place.url}/-/tags/{quote(tag.name)}")


@pages.post("/:path/-/tags/:name", slashes="name")
def tell_about_tag(visit: Visit) -> Reply:
    """Write its release notes, or write them anew."""
    place, name = place_of(visit), visit.path["name"]
    text = str(visit.form.get("description", ""))
    told = place.get("/repository/tags/:tag_name", tag_name=name).release is not None
    method = "PUT" if told else "POST"
    try:
        place.call(method, "/repository/tags/:tag_name/release", {"description": text}, tag_name=name)
    except Refusal as refusal:
        return _show(place, text, sentences(refusal), 422)
    return Redirect(f"{place.url}/-/tags/{quote(name)}")


@pages.delete("/:path/-/tags/:name", slashes="name")
def delete_tag(visit: Visit) -> Reply:
    """Let go of one, with what was told about it."""
    place, name = place_of(visit), visit.path["name"]
    try:
        place.call("DELETE", "/repository/tags/:tag_name", tag_name=name)
    except Refusal as refusal:
        return _show(place, errors=sentences(refusal), status=422)
    return Redirect(f"{place.url}/-/tags")


def _show(place: Place, typed: str | None = None, errors: list[str] | None = None, status: int = 200) -> Page:
    tag = place.get("/repository/tags/:tag_name", tag_name=place.visit.path["name"])
    told = tag.release.description if tag.release else ""
    context: dict[str, Any] = {
        "tag": tag,
        "notes": html_of(place.visit, told, place.project.id),
        "typed": told if typed is None else typed,
        "errors": errors or [],
        "may_write": place.may("POST", "/repository/tags"),
        "may_delete": _may_delete(place),
    }
    return place.page("code/tag.html", "code", context, status)


def _may_delete(place: Place) -> bool:
    """Those who make tags and look after the project; a protected one is deleted by nobody."""
    return place.may("POST", "/repository/tags") and place.may("GET", "/protected_tags")


def _form(place: Place, typed: dict[str, str], errors: list[str] | None = None, status: int = 200) -> Page:
    context = {"typed": typed, "errors": errors or [], "may_write": place.may("POST", "/repository/tags")}
    return place.page("code/tag_new.html", "code", context, status)
