"""Wikis: pages that people write together."""

from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, form_part
from ingot.web.projects.cloning import clone_addresses
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences
from ingot.web.texts import html_of

pages = Pages()
_HOME = "home"
_FIELDS = ("title", "content", "message")


@pages.get("/:path/-/wikis", open=True)
def show_wiki(visit: Visit, db: Connection) -> Reply:
    """The page that a wiki begins with."""
    return _show(place_of(visit), db, _HOME)


@pages.get("/:path/-/wikis/:slug", open=True, slashes="slug")
def show_page(visit: Visit, db: Connection) -> Reply:
    """A page; ``/edit`` behind it and ``/new`` lead to a form, and ``/pages`` to the list."""
    place, slug = place_of(visit), visit.path["slug"]
    if (slug == "new" or slug.endswith("/edit")) and not place.may("POST", "/wikis"):
        raise NotFound("Page")
    if slug == "new":
        return _form(place, {"title": "", "content": "", "message": ""}, "")
    if slug.endswith("/edit"):
        return _edit(place, slug.removesuffix("/edit"))
    return _show(place, db, _HOME if slug == "pages" else slug)


@pages.post("/:path/-/wikis")
def create_page(visit: Visit) -> Reply:
    """Write a new page."""
    return _save(place_of(visit), "POST", "")


@pages.put("/:path/-/wikis/:slug", slashes="slug")
def edit_page(visit: Visit) -> Reply:
    """Change a page."""
    return _save(place_of(visit), "PUT", visit.path["slug"])


@pages.delete("/:path/-/wikis/:slug", slashes="slug")
def delete_page(visit: Visit) -> Reply:
    """Remove a page."""
    place = place_of(visit)
    place.call("DELETE", "/wikis/:slug", slug=visit.path["slug"])
    return Redirect(f"{place.url}/-/wikis")


def _show(place: Place, db: Connection, slug: str) -> Page:
    everything = place.get("/wikis", {"per_page": 100}).items
    try:
        shown = place.get("/wikis/:slug", slug=slug)
    except NotFound:
        if slug != _HOME and not place.may("POST", "/wikis"):
            raise
        if slug != _HOME:
            return _form(place, {"title": slug.replace("-", " "), "content": "", "message": ""}, "", status=404)
        shown = None
    context = {
        "pages": everything,
        "shown": shown,
        "html": _html(place, shown),
        "addresses": clone_addresses(db, place.project, wiki=True),
        "may_write": place.may("POST", "/wikis"),
        "may_delete": place.may("DELETE", "/wikis/:slug", slug=slug),
    }
    return place.page("talk/wiki.html", "wiki", context)


def _html(place: Place, shown: Any) -> Any:
    if shown is None:
        return ""
    if shown.format != "markdown":
        return None
    directory = shown.slug.rpartition("/")[0]
    return html_of(place.visit, shown.content, place.project.id, directory=directory, wiki=True)


def _edit(place: Place, slug: str) -> Page:
    shown = place.get("/wikis/:slug", slug=slug)
    return _form(place, {"title": shown.title, "content": shown.content, "message": ""}, shown.slug)


def _save(place: Place, method: str, slug: str) -> Reply:
    typed = {name: form_part(place.visit.form, "wiki", name) for name in _FIELDS}
    sent = {name: value for name, value in typed.items() if value or name != "message"}
    try:
        named = {"slug": slug} if slug else {}
        made = place.call(method, "/wikis/:slug" if slug else "/wikis", sent, **named)
    except Refusal as refusal:
        return _form(place, typed, slug, sentences(refusal), 422)
    return Redirect(f"{place.url}/-/wikis/{quote(made.slug)}")


def _form(place: Place, typed: dict[str, str], slug: str, errors: list[str] | None = None, status: int = 200) -> Page:
    context = {"typed": typed, "slug": slug, "errors": errors or [], "missing": status == 404}
    return place.page("talk/wiki_form.html", "wiki", context, status)
