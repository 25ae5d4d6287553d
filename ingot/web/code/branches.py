"""Branches: the list, a new one, and the end of one."""

from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, text_of
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_ORDERS = {"updated_desc": "Newest first", "updated_asc": "Oldest first", "name_asc": "By name"}


@pages.get("/:path/-/branches", open=True)
def show_branches(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The branches with what they were changed by last."""
    return _list(place_of(visit))


@pages.get("/:path/-/branches/new")
def show_form(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask for a name and where it begins."""
    place = place_of(visit)
    return _form(place, {"branch": "", "ref": str(visit.query.get("ref", place.project.default_branch or ""))})


@pages.get("/:path/-/branches/:name", open=True, slashes="name")
def show_branch(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The files of a branch."""
    place = place_of(visit)
    branch = place.get("/repository/branches/:branch", branch=visit.path["name"])
    return Redirect(f"{place.url}/-/tree/{quote(branch.name)}")


@pages.post("/:path/-/branches")
def create_branch(visit: Visit) -> Reply:
    """Make one, and show its files."""
    place = place_of(visit)
    typed = {name: str(visit.form.get(name, "")) for name in ("branch", "ref")}
    try:
        made = place.call("POST", "/repository/branches", typed)
    except Refusal as refusal:
        return _form(place, typed, sentences(refusal), 422)
    return Redirect(f"{place.url}/-/tree/{quote(made.name)}")


@pages.delete("/:path/-/branches/:name", slashes="name")
def delete_branch(visit: Visit) -> Reply:
    """Let go of one."""
    place = place_of(visit)
    try:
        place.call("DELETE", "/repository/branches/:branch", branch=visit.path["name"])
    except Refusal as refusal:
        return _list(place, sentences(refusal), 422)
    return Redirect(f"{place.url}/-/branches")


@pages.post("/:path/-/merged_branches/delete")
def delete_merged_branches(visit: Visit) -> Reply:
    """Let go of all that are merged into the default branch, but for protected ones."""
    place = place_of(visit)
    try:
        place.call("DELETE", "/repository/merged_branches")
    except Refusal as refusal:
        return _list(place, sentences(refusal), 422)
    return Redirect(f"{place.url}/-/branches")


def _list(place: Place, errors: list[str] | None = None, status: int = 200) -> Page:
    query = place.visit.query
    sort = text_of(query, "sort")
    sort = sort if sort in _ORDERS else "updated_desc"
    search = text_of(query, "search")
    asked = {"search": search, "sort": sort, "page": str(query.get("page", "1")), "per_page": "30"}
    context: dict[str, Any] = {
        "branches": place.get("/repository/branches", asked),
        "search": search,
        "sort": sort,
        "orders": _ORDERS,
        "errors": errors or [],
        "may_write": place.may("POST", "/repository/branches"),
    }
    return place.page("code/branches.html", "code", context, status)


def _form(place: Place, typed: dict[str, str], errors: list[str] | None = None, status: int = 200) -> Page:
    context = {"typed": typed, "errors": errors or [], "may_write": place.may("POST", "/repository/branches")}
    return place.page("code/branch_new.html", "code", context, status)
