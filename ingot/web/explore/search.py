"""Search pages of the instance, a group and a project."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from ingot.core.db.paging import Listing
from ingot.core.db.paging import Page as ListPage
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.views import project_paths
from ingot.search import api as search_api
from ingot.web.explore.code_results import group_by_file, search_code_of_projects
from ingot.web.explore.note_links import note_page
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import project_context

pages = PageRoutes()
_SCOPE_NAMES = {
    "projects": "Projects",
    "blobs": "Code",
    "commits": "Commits",
    "issues": "Issues",
    "merge_requests": "Merge requests",
    "milestones": "Milestones",
    "notes": "Comments",
    "snippet_titles": "Snippets",
    "users": "Users",
    "wiki_blobs": "Wiki",
}
_GLOBAL_SCOPES = ("projects", "blobs", "issues", "merge_requests", "milestones", "snippet_titles", "users")
_GROUP_SCOPES = ("projects", "issues", "merge_requests", "milestones", "users")
_PROJECT_SCOPES = ("blobs", "commits", "issues", "merge_requests", "milestones", "notes", "wiki_blobs", "users")

_CODE_SCOPES = ("blobs", "wiki_blobs")
_CODE_ROWS = 100
"""Matches on a page; those of one file stand together."""


@pages.get("/search", open=True)
def search_instance(visit: Visit) -> PageResponse:
    """Search the instance; signed-out users find only projects."""
    if target := _project_filter(visit):
        return LocalRedirect(target)
    if visit.viewer.user is None:
        params = {"search": _term(visit), "page": visit.request.query.get("page", "1")}
        results = visit.ask(projects_api.list_projects, params)
        return TemplateResponse("explore/search.html", _context(visit, ("projects",), "projects", results))
    if _wants_counts(visit):  # Those of code would search the repositories of many projects.
        scopes = tuple(scope for scope in _GLOBAL_SCOPES if scope != "blobs")
        return _counted_tabs(visit, search_api.search_anywhere, _GLOBAL_SCOPES, scopes)
    if visit.request.query.get("scope") == "blobs" and _term(visit):
        return TemplateResponse("explore/search.html", _search_all_code(visit))
    return TemplateResponse("explore/search.html", _run_search(visit, search_api.search_anywhere, _GLOBAL_SCOPES))


def _project_filter(visit: Visit) -> str:
    """Return the address of the same search in the project that the form names; empty without one."""
    query = visit.request.query
    path = text_field(query, "project").strip("/ ")
    if not path:
        return ""
    project = visit.ask(projects_api.get_project, {"ci_settings": False}, id=path)
    names = ("search", "path", "language", "scope")
    kept = {name: text for name in names if (text := text_field(query, name))}
    return f"/{project.path_with_namespace}/-/search?{urlencode(kept)}"


def _wants_counts(visit: Visit) -> bool:
    return visit.headers.fragment and "counts" in visit.request.query and bool(_term(visit))


def _counted_tabs(
    visit: Visit,
    endpoint: Callable[..., Listing[Any]],
    scopes: tuple[str, ...],
    counted: tuple[str, ...],
    **path: object,
) -> PageResponse:
    """Return the tabs with the number of results of each scope; without one where the user may not search."""
    counts: dict[str, int | None] = {}
    for scope in counted:
        text = _code_term(visit) if scope in _CODE_SCOPES else _term(visit)
        with suppress(*REQUEST_ERRORS):
            counts[scope] = visit.ask(endpoint, {"search": text, "scope": scope, "per_page": 1}, **path).total
    requested = visit.request.query.get("scope")
    context = {"scopes": _named(scopes), "scope": requested if requested in scopes else scopes[0], "counts": counts}
    return TemplateResponse("explore/_search_tabs.html", context)


def _named(scopes: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(scope, _SCOPE_NAMES[scope]) for scope in scopes]


def _code_term(visit: Visit) -> str:
    """Return the text to search in code, with the conditions of the fields for path and language."""
    filters = {name: text_field(visit.request.query, name).split() for name in ("path", "language")}
    return " ".join([_term(visit), *(f"{name}:{word}" for name, words in filters.items() for word in words)])


def _search_all_code(visit: Visit) -> dict[str, Any]:
    page = ListPage(visit.request.page, _CODE_ROWS)
    found = search_code_of_projects(visit, _code_term(visit), page)
    return _context(visit, _GLOBAL_SCOPES, "blobs", found.results) | {
        "searched": found.searched,
        "is_cut": found.is_cut,
    }


@pages.get("/groups/:path/-/search", open=True)
def search_group(visit: Visit) -> PageResponse:
    """Search a group and its subgroups."""
    group = visit.ask(group_projects_api.get_group, id=visit.request.path["path"])
    if _wants_counts(visit):
        return _counted_tabs(visit, search_api.search_group, _GROUP_SCOPES, _GROUP_SCOPES, id=group.id)
    context = _run_search(visit, search_api.search_group, _GROUP_SCOPES, id=group.id)
    return TemplateResponse("explore/search.html", {**context, "parent_name": group.full_name})


@pages.get("/:path/-/search", open=True)
def search_project(visit: Visit) -> PageResponse:
    """Search the code, issues, merge requests and comments of a project."""
    parent = project_context(visit)
    if _wants_counts(visit):
        return _counted_tabs(visit, search_api.search_project, _PROJECT_SCOPES, _PROJECT_SCOPES, id=parent.project.id)
    context = _run_search(visit, search_api.search_project, _PROJECT_SCOPES, id=parent.project.id)
    return parent.page(
        "explore/search_project.html", "", {**context, "parent_name": parent.project.name_with_namespace}
    )


def _term(visit: Visit) -> str:
    term = visit.request.query.get("search", "")
    return term.strip() if isinstance(term, str) else ""


def _run_search(
    visit: Visit, endpoint: Callable[..., Listing[Any]], scopes: tuple[str, ...], **path: object
) -> dict[str, Any]:
    requested = visit.request.query.get("scope")
    scope = requested if requested in scopes else scopes[0]
    if not _term(visit):
        return _context(visit, scopes, scope, Listing([], ListPage(), 0))
    params = {
        "search": _code_term(visit) if scope in _CODE_SCOPES else _term(visit),
        "scope": scope,
        "per_page": _CODE_ROWS if scope in _CODE_SCOPES else None,
        "page": visit.request.query.get("page", "1"),
        "ref": visit.request.query.get("ref"),
    }
    try:
        results = visit.ask(endpoint, {name: value for name, value in params.items() if value}, **path)
    except REQUEST_ERRORS as error:
        return _context(visit, scopes, scope, Listing([], ListPage(), 0)) | {"errors": error_messages(error)}
    return _context(visit, scopes, scope, results)


def _context(visit: Visit, scopes: tuple[str, ...], scope: str, results: Listing[Any]) -> dict[str, Any]:
    numbers = sorted({item.project_id for item in results.items if getattr(item, "project_id", None)})
    paths = visit.database.read(lambda db: project_paths(db, numbers))
    return {
        "term": _term(visit),
        "scopes": _named(scopes),
        "counts": {} if results.total is None else {scope: results.total},
        "path_filter": text_field(visit.request.query, "path"),
        "language_filter": text_field(visit.request.query, "language"),
        "scope": scope,
        "results": results,
        "paths": paths,
        "parent_name": "",
        "note_page": note_page,
        "files": group_by_file(results.items, _term(visit)) if scope in _CODE_SCOPES else [],
        "is_cut": False,
        "errors": [],
    }
