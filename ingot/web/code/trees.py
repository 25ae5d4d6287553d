"""Folders of a repository, and the way from one branch to another."""

from typing import Any

from ingot.api.params import number_or_none
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.errors import NotFound
from ingot.git.commits import read_commits
from ingot.git.entries import FOLDER, entry_at
from ingot.git.lastcommit import last_commit_id
from ingot.git.paths import spellings
from ingot.projects.readmes import README_NAMES
from ingot.repository.commits.views import commit_view
from ingot.repository.files.queries import find_file
from ingot.repository.trees.params import ListTree
from ingot.repository.trees.queries import list_entries
from ingot.repository.trees.views import TreeEntryView, entry_view
from ingot.web.code.entries import entry_rows
from ingot.web.code.reading import content_of, is_markdown
from ingot.web.code.where import Where, code_of, where_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.place import place_of
from ingot.web.saying import with_query
from ingot.web.texts import html_of

pages = Pages()
_ENTRIES = 1_000


@pages.get("/:path/-/tree", open=True)
def show_root(visit: Visit, db: Connection) -> Reply:
    """The files of the default branch, or the way to a first push."""
    place = place_of(visit)
    if place.project.empty_repo and place.may("GET", "/repository/tree"):
        return Redirect(place.url)
    return show_tree(visit, db)


@pages.get("/:path/-/tree/:rest", open=True, slashes="rest")
def show_tree(visit: Visit, db: Connection) -> Reply:
    """What a folder holds; a file has a page of its own. ``last`` waits for the last commits, however far they lie."""
    where = where_of(visit, db)
    if where.path and _is_file(where):
        return Redirect(where.url("blob"))
    number = number_or_none(str(visit.query.get("page", ""))) or 1
    wanted = ListTree(ref=where.commit)
    most = min(number_or_none(str(visit.query.get("most", ""))) or _ENTRIES, _ENTRIES)
    page = ListPage(max(1, min(number, 10**6)), max(1, most))
    listing = list_entries(where.repository, wanted, where.path, page)
    wanted_all = "last" in visit.query
    rows = entry_rows(where, listing.items, visit.database.clock(), "any" if wanted_all else "short")
    if visit.fragment and wanted_all:
        return Page("code/_entries.html", {"rows": rows})
    entries = listing.of([entry_view(entry) for entry in listing.items])
    context = {
        "where": where,
        "entries": entries,
        "rows": rows,
        "rows_address": with_query(visit.query, last=1),
        "last": last_commit(where),
        "readme": readme_of(where, entries.items),
        "may_write": where.place.may("POST", "/repository/commits"),
    }
    return where.place.page("code/tree.html", "code", context)


@pages.get("/:path/-/refs", open=True)
def show_refs(visit: Visit, db: Connection) -> Reply:
    """Branches and tags to go to; ``word`` and ``file`` say which page of them."""
    place = place_of(visit)
    code_of(place, db)
    search = str(visit.query.get("search", ""))
    asked = {"search": search, "per_page": 20}
    context: dict[str, Any] = {
        "branches": place.get("/repository/branches", asked).items,
        "tags": place.get("/repository/tags", asked).items,
        "word": visit.query.get("word")
        if visit.query.get("word") in ("tree", "blob", "commits", "blame", "find_file")
        else "tree",
        "file": str(visit.query.get("file", "")),
        "search": search,
    }
    if visit.fragment:
        return Page("code/_refs.html", {**context, "place": place})
    return place.page("code/refs.html", "code", context)


def last_commit(where: Where) -> Any:
    """The last commit that changed what is here."""
    path = next((raw for raw in spellings(where.path) if entry_at(where.repository, where.commit, raw)), b"")
    oid = last_commit_id(where.repository, where.commit, path) if where.path else where.commit
    base = where.place.project.web_url
    return commit_view(read_commits(where.repository, [oid])[0], base)


def readme_of(where: Where, entries: list[TreeEntryView]) -> tuple[str, str, Any] | None:
    """The README of a folder: its name, its path, and what it says."""
    files = {entry.name.lower(): entry for entry in entries if entry.type == "blob"}
    found = next((files[name] for name in README_NAMES if name in files), None)
    if found is None:
        return None
    try:
        content = content_of(find_file(where.repository, where.commit, found.path))
    except NotFound:
        return None
    if content.kind != "text":
        return None
    text = content.text
    if is_markdown(found.path):
        project = where.place.project
        text = html_of(where.place.visit, text, project.id, ref=where.ref, directory=where.path)
    return found.name, found.path, text


def _is_file(where: Where) -> bool:
    for raw in spellings(where.path):
        entry = entry_at(where.repository, where.commit, raw)
        if entry is not None:
            return entry.mode != FOLDER
    raise NotFound("Tree")
