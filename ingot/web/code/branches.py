"""Branches: the list, a new one, and the end of one."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ingot.db.connection import Connection
from ingot.git.commits import branch_tip
from ingot.git.divergence import count_apart, known_apart
from ingot.repository.branches.views import BranchView
from ingot.web.code.pipelines import outcomes_of
from ingot.web.code.where import code_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit, text_of
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences
from ingot.web.saying import with_query

pages = Pages()
_ORDERS = {"updated_desc": "Newest first", "updated_asc": "Oldest first", "name_asc": "By name"}


@pages.get("/:path/-/branches", open=True)
def show_branches(visit: Visit, db: Connection) -> Reply:
    """The branches with what they were changed by last; ``counted`` waits for how far they are from the default one."""
    return _list(place_of(visit), db)


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
        errors = sentences(refusal)
        return visit.database.read(lambda db: _list(place, db, errors, 422))
    return Redirect(f"{place.url}/-/branches")


@pages.post("/:path/-/merged_branches/delete")
def delete_merged_branches(visit: Visit) -> Reply:
    """Let go of all that are merged into the default branch, but for protected ones."""
    place = place_of(visit)
    try:
        place.call("DELETE", "/repository/merged_branches")
    except Refusal as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _list(place, db, errors, 422))
    return Redirect(f"{place.url}/-/branches")


def _list(place: Place, db: Connection, errors: list[str] | None = None, status: int = 200) -> Page:
    visit, query = place.visit, place.visit.query
    sort = text_of(query, "sort")
    sort = sort if sort in _ORDERS else "updated_desc"
    search = text_of(query, "search")
    asked = {"search": search, "sort": sort, "page": str(query.get("page", "1")), "per_page": "30"}
    branches = place.get("/repository/branches", asked)
    may_write = place.may("POST", "/repository/branches")
    shown: dict[str, Any] = {
        "branches": branches,
        "outcomes": outcomes_of(place, db, [branch.commit for branch in branches.items]),
        "may_write": may_write,
        **_apart(place, db, branches.items),
    }
    if visit.fragment and "counted" in query:
        return Page("code/_branches.html", {**shown, "place": place, "project": place.project})
    context = {
        **shown,
        "search": search,
        "sort": sort,
        "orders": _ORDERS,
        "errors": errors or [],
        "merged": may_write and any(branch.merged and not branch.protected for branch in branches.items),
    }
    return place.page("code/branches.html", "code", context, status)


def _apart(place: Place, db: Connection, branches: Sequence[BranchView]) -> dict[str, Any]:
    """How far the branches are from the default one, as far as it is known, or as somebody waits for it."""
    visit, repository = place.visit, code_of(place, db).repository
    base = branch_tip(repository, place.project.default_branch or "")
    if base is None:
        return {"apart": {}, "waiting": ""}
    tips = {branch.commit.id for branch in branches if not branch.default}
    if "counted" in visit.query:
        return {"apart": count_apart(repository, base, tips), "waiting": ""}
    apart = known_apart(repository, base, tips)
    return {"apart": apart, "waiting": with_query(visit.query, counted=1) if len(apart) < len(tips) else ""}


def _form(place: Place, typed: dict[str, str], errors: list[str] | None = None, status: int = 200) -> Page:
    context = {"typed": typed, "errors": errors or [], "may_write": place.may("POST", "/repository/branches")}
    return place.page("code/branch_new.html", "code", context, status)
