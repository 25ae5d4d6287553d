"""Branch pages: list, create and delete."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.branches.views import BranchView
from ingot.web.ci.outcomes import pipeline_outcomes
from ingot.web.code.branch_requests import open_requests
from ingot.web.code.location import readable_code
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.formats import with_query
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_ORDERS = {"updated_desc": "Newest first", "updated_asc": "Oldest first", "name_asc": "Name"}


@pages.get("/:path/-/branches", open=True)
def show_branches(visit: Visit, db: Connection) -> PageResponse:
    """List the branches with their last commits; with ``counted`` wait for the ahead and behind counts."""
    return _branches_page(project_context(visit), db)


@pages.get("/:path/-/branches/new")
def show_form(visit: Visit) -> PageResponse:
    """Show the form for a new branch."""
    parent = project_context(visit)
    query = visit.request.query
    typed = {"branch": str(query.get("branch", "")), "ref": str(query.get("ref", parent.project.default_branch or ""))}
    return _branch_form(parent, typed)


@pages.get("/:path/-/branches/:name", open=True, slashes="name")
def show_branch(visit: Visit) -> PageResponse:
    """Redirect to the files of a branch."""
    parent = project_context(visit)
    branch = parent.ask(branches_api.get_branch, branch=visit.request.path["name"])
    return LocalRedirect(f"{parent.url}/-/tree/{quote(branch.name)}")


@pages.post("/:path/-/branches", notice="Branch created.")
def create_branch(visit: Visit) -> PageResponse:
    """Create a branch and show its files."""
    parent = project_context(visit)
    typed = {name: str(visit.request.form.get(name, "")) for name in ("branch", "ref")}
    try:
        created = parent.ask(branches_api.create_branch, typed)
    except REQUEST_ERRORS as error:
        return _branch_form(parent, typed, error_messages(error), 422)
    return LocalRedirect(f"{parent.url}/-/tree/{quote(created.name)}")


@pages.delete("/:path/-/branches/:name", notice="Branch deleted.", slashes="name")
def delete_branch(visit: Visit) -> PageResponse:
    """Delete a branch."""
    parent = project_context(visit)
    try:
        parent.ask(branches_api.delete_branch, branch=visit.request.path["name"])
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _branches_page(parent, db, errors, 422))
    return LocalRedirect(f"{parent.url}/-/branches")


@pages.post("/:path/-/merged_branches/delete", notice="Merged branches are being deleted.")
def delete_merged_branches(visit: Visit) -> PageResponse:
    """Delete all branches that are merged into the default branch, except protected ones."""
    parent = project_context(visit)
    try:
        parent.ask(branches_api.delete_merged_branches)
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _branches_page(parent, db, errors, 422))
    return LocalRedirect(f"{parent.url}/-/branches")


def _branches_page(
    parent: ProjectContext, db: Connection, errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    visit, query = parent.visit, parent.visit.request.query
    sort = text_field(query, "sort")
    sort = sort if sort in _ORDERS else "updated_desc"
    search = text_field(query, "search")
    params = {"search": search, "sort": sort, "page": str(query.get("page", "1")), "per_page": "30"}
    branches = parent.ask(branches_api.list_branches, params)
    may_write = parent.may(branches_api.create_branch)
    rows: dict[str, Any] = {
        "branches": branches,
        "outcomes": pipeline_outcomes(parent, db, [branch.commit for branch in branches.items]),
        "may_write": may_write,
        "requests": open_requests(parent, db, [branch.name for branch in branches.items]),
        **_divergence(parent, branches.items),
    }
    if visit.headers.fragment and "counted" in query:
        return TemplateResponse("code/_branches.html", {**rows, "parent": parent, "project": parent.project})
    context = {
        **rows,
        "search": search,
        "sort": sort,
        "orders": _ORDERS,
        "errors": errors or [],
        "merged": may_write and any(branch.merged and not branch.protected for branch in branches.items),
    }
    return parent.page("code/branches.html", "code", context, status)


def _divergence(parent: ProjectContext, branches: Sequence[BranchView]) -> dict[str, Any]:
    """Return the ahead and behind counts against the default branch: the cached ones, or all if the request waits."""
    query, repository = parent.visit.request.query, readable_code(parent).repository
    heads, wait = {branch.commit.id for branch in branches if not branch.default}, "counted" in query
    distances = browser.branch_distances(repository, parent.project.default_branch or "", heads, wait=wait)
    if distances is None:
        return {"distances": {}, "waiting": ""}
    waiting = "" if wait or len(distances) == len(heads) else with_query(query, counted=1)
    return {"distances": distances, "waiting": waiting}


def _branch_form(
    parent: ProjectContext, typed: dict[str, str], errors: list[str] | None = None, status: int = 200
) -> TemplateResponse:
    context = {"typed": typed, "errors": errors or [], "may_write": parent.may(branches_api.create_branch)}
    return parent.page("code/branch_new.html", "code", context, status)
