"""Branches: the list, a new one, and the end of one."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.git.history.commits import branch_tip
from ingot.git.history.divergence import cached_divergence, count_divergence
from ingot.repositories.branches.views import BranchView
from ingot.web.code.location import readable_code
from ingot.web.code.pipelines import pipeline_outcomes
from ingot.web.form_errors import RequestRefusal, error_messages
from ingot.web.formats import with_query
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_ORDERS = {"updated_desc": "Newest first", "updated_asc": "Oldest first", "name_asc": "By name"}


@pages.get("/:path/-/branches", open=True)
def show_branches(visit: Visit, db: Connection) -> PageResponse:
    """The branches with what they were changed by last; ``counted`` waits for how far they are from the default one."""
    return _branches_page(project_context(visit), db)


@pages.get("/:path/-/branches/new")
def show_form(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """Ask for a name and where it begins."""
    place = project_context(visit)
    return _branch_form(place, {"branch": "", "ref": str(visit.query.get("ref", place.project.default_branch or ""))})


@pages.get("/:path/-/branches/:name", open=True, slashes="name")
def show_branch(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """The files of a branch."""
    place = project_context(visit)
    branch = place.get("/repository/branches/:branch", branch=visit.path["name"])
    return LocalRedirect(f"{place.url}/-/tree/{quote(branch.name)}")


@pages.post("/:path/-/branches")
def create_branch(visit: Visit) -> PageResponse:
    """Make one, and show its files."""
    place = project_context(visit)
    typed = {name: str(visit.form.get(name, "")) for name in ("branch", "ref")}
    try:
        made = place.call("POST", "/repository/branches", typed)
    except RequestRefusal as refusal:
        return _branch_form(place, typed, error_messages(refusal), 422)
    return LocalRedirect(f"{place.url}/-/tree/{quote(made.name)}")


@pages.delete("/:path/-/branches/:name", slashes="name")
def delete_branch(visit: Visit) -> PageResponse:
    """Let go of one."""
    place = project_context(visit)
    try:
        place.call("DELETE", "/repository/branches/:branch", branch=visit.path["name"])
    except RequestRefusal as refusal:
        errors = error_messages(refusal)
        return visit.database.read(lambda db: _branches_page(place, db, errors, 422))
    return LocalRedirect(f"{place.url}/-/branches")


@pages.post("/:path/-/merged_branches/delete")
def delete_merged_branches(visit: Visit) -> PageResponse:
    """Let go of all that are merged into the default branch, but for protected ones."""
    place = project_context(visit)
    try:
        place.call("DELETE", "/repository/merged_branches")
    except RequestRefusal as refusal:
        errors = error_messages(refusal)
        return visit.database.read(lambda db: _branches_page(place, db, errors, 422))
    return LocalRedirect(f"{place.url}/-/branches")


def _branches_page(
    place: ProjectContext, db: Connection, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    visit, query = place.visit, place.visit.query
    sort = text_field(query, "sort")
    sort = sort if sort in _ORDERS else "updated_desc"
    search = text_field(query, "search")
    asked = {"search": search, "sort": sort, "page": str(query.get("page", "1")), "per_page": "30"}
    branches = place.get("/repository/branches", asked)
    may_write = place.may("POST", "/repository/branches")
    shown: dict[str, Any] = {
        "branches": branches,
        "outcomes": pipeline_outcomes(place, db, [branch.commit for branch in branches.items]),
        "may_write": may_write,
        **_divergence(place, db, branches.items),
    }
    if visit.fragment and "counted" in query:
        return TemplateResponse("code/_branches.html", {**shown, "place": place, "project": place.project})
    context = {
        **shown,
        "search": search,
        "sort": sort,
        "orders": _ORDERS,
        "errors": errors or [],
        "merged": may_write and any(branch.merged and not branch.protected for branch in branches.items),
    }
    return place.page("code/branches.html", "code", context, status)


def _divergence(place: ProjectContext, db: Connection, branches: Sequence[BranchView]) -> dict[str, Any]:
    """How far the branches are from the default one, as far as it is known, or as somebody waits for it."""
    visit, repository = place.visit, readable_code(place, db).repository
    base = branch_tip(repository, place.project.default_branch or "")
    if base is None:
        return {"apart": {}, "waiting": ""}
    tips = {branch.commit.id for branch in branches if not branch.default}
    if "counted" in visit.query:
        return {"apart": count_divergence(repository, base, tips), "waiting": ""}
    apart = cached_divergence(repository, base, tips)
    return {"apart": apart, "waiting": with_query(visit.query, counted=1) if len(apart) < len(tips) else ""}


def _branch_form(
    place: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {"typed": typed, "errors": errors or [], "may_write": place.may("POST", "/repository/branches")}
    return place.page("code/branch_new.html", "code", context, status)
