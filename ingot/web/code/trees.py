"""Folder pages and the branch and tag selector."""

from typing import Any

from ingot.core.api.params import number_or_none
from ingot.core.db.paging import Page as ListPage
from ingot.core.errors import NotFound
from ingot.projects.projects.readme import README_NAMES
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.repositories.commits.views import CommitView
from ingot.repositories.tags import api as tags_api
from ingot.repositories.trees import api as trees_api
from ingot.repositories.trees.views import TreeEntryView, entry_view
from ingot.web.code.file_kinds import file_content, is_prose
from ingot.web.code.location import CodeLocation, code_location, readable_code
from ingot.web.code.prose import render_prose
from ingot.web.code.tree_rows import entry_rows
from ingot.web.formats import with_query
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import project_context

pages = PageRoutes()
_ENTRIES_PER_PAGE = 1_000


@pages.get("/:path/-/tree", open=True)
def show_root(visit: Visit) -> PageResponse:
    """Show the files of the default branch, or the instructions for a first push."""
    parent = project_context(visit)
    if parent.project.empty_repo and parent.may(trees_api.list_tree):
        return LocalRedirect(parent.url)
    return show_tree(visit)


@pages.get("/:path/-/tree/:rest", open=True, slashes="rest")
def show_tree(visit: Visit) -> PageResponse:
    """Show a folder, or redirect to the page of a file. ``last`` waits until all last commits are found."""
    location = code_location(visit)
    kind = browser.kind_at(location.repository, location.commit, location.path)
    if kind is None:
        raise NotFound("Tree")
    if kind == "file":
        return LocalRedirect(location.url("blob"))
    number = number_or_none(str(visit.request.query.get("page", ""))) or 1
    page_size = min(number_or_none(str(visit.request.query.get("most", ""))) or _ENTRIES_PER_PAGE, _ENTRIES_PER_PAGE)
    page = ListPage(max(1, min(number, 10**6)), max(1, page_size))
    listing = browser.list_folder(location.repository, location.commit, location.path, page)
    all_commits = "last" in visit.request.query
    rows = entry_rows(location, listing.items, visit.database.clock(), "any" if all_commits else "short")
    if visit.headers.fragment and all_commits:
        return TemplateResponse("code/_entries.html", {"rows": rows})
    entries = listing.of([entry_view(entry) for entry in listing.items])
    context = {
        "location": location,
        "entries": entries,
        "rows": rows,
        "rows_address": with_query(visit.request.query, last=1),
        "last": find_last_commit(location),
        "readme": find_readme(location, entries.items),
        "may_write": location.parent.may(commit_writing_api.create_commit),
    }
    return location.parent.page("code/tree.html", "code", context)


@pages.get("/:path/-/refs", open=True)
def show_refs(visit: Visit) -> PageResponse:
    """List branches and tags for the selector; ``word`` and ``file`` select the page that they link to."""
    parent = project_context(visit)
    readable_code(parent)
    search = str(visit.request.query.get("search", ""))
    params = {"search": search, "per_page": 20}
    context: dict[str, Any] = {
        "branches": parent.ask(branches_api.list_branches, params).items,
        "tags": parent.ask(tags_api.list_tags, params).items,
        "page": visit.request.query.get("word")
        if visit.request.query.get("word") in ("tree", "blob", "commits", "blame", "find_file")
        else "tree",
        "file": str(visit.request.query.get("file", "")),
        "search": search,
    }
    if visit.headers.fragment:
        return TemplateResponse("code/_refs.html", {**context, "parent": parent})
    return parent.page("code/refs.html", "code", context)


def find_last_commit(location: CodeLocation) -> CommitView:
    """Return the last commit that changed this path."""
    return browser.last_commit(location.repository, location.commit, location.path, location.parent.project.web_url)


def find_readme(location: CodeLocation, entries: list[TreeEntryView]) -> tuple[str, str, Any] | None:
    """Return the README of a folder: its name, its path and its content, rendered if it is Markdown."""
    files = {entry.name.lower(): entry for entry in entries if entry.type == "blob"}
    entry = next((files[name] for name in README_NAMES if name in files), None)
    if entry is None:
        return None
    try:
        content = file_content(browser.read_file(location.repository, location.commit, entry.path))
    except NotFound:
        return None
    if content.kind != "text":
        return None
    text = content.text
    rendered = render_prose(location, entry.path, text, location.path) if is_prose(entry.path) else None
    return entry.name, entry.path, text if rendered is None else rendered
