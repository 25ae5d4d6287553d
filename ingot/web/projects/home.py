"""What is at a path: a project's home, a group or a person; and the stars of a project."""

from typing import Any

from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.errors import NotFound, Unchanged
from ingot.git.commits import commit_id
from ingot.git.history import count_commits
from ingot.groups.namespaces.queries import moved_namespace
from ingot.projects.queries import find_project, star_or_none
from ingot.repository.trees.params import ListTree
from ingot.repository.trees.queries import list_entries
from ingot.repository.trees.views import entry_view
from ingot.web.code.activity import commits_by_week
from ingot.web.code.entries import entry_rows
from ingot.web.code.languages import languages_of
from ingot.web.code.trees import last_commit, readme_of
from ingot.web.code.where import Where, code_of
from ingot.web.explore.people import person_or_none, show_person
from ingot.web.groups.belonging import belonging
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects.badges import shown_badges
from ingot.web.projects.cloning import clone_addresses
from ingot.web.projects.place import Place, place_of
from ingot.web.texts import html_of

pages = Pages()
_ENTRIES = 500
_LICENCES = ("license", "licence", "copying", "unlicense")
_IMPORTING = ("scheduled", "started")


@pages.get("/:path", open=True)
def show_path(visit: Visit, db: Connection) -> Reply:
    """A project's home; what is no project may be a group."""
    try:
        place = place_of(visit)
    except NotFound:
        return _of_git(visit) or _somebody(visit)
    return show_home(place, db)


@pages.get("/:path/-/import", open=True)
def show_import(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """How an import goes; a script asks for this part until it is done, and then shows the project."""
    place = place_of(visit)
    state = place.get("/import")
    if not visit.fragment:
        return Redirect(place.url)
    done = [] if state.import_status in _IMPORTING else [(b"hx-refresh", b"true")]
    return Page("projects/_import.html", {"place": place, "state": state}, headers=done)


@pages.post("/:path/-/star")
def star(visit: Visit) -> Reply:
    """Star it."""
    return _starred(visit, "/star")


@pages.post("/:path/-/unstar")
def unstar(visit: Visit) -> Reply:
    """Take the star back."""
    return _starred(visit, "/unstar")


def _starred(visit: Visit, route: str) -> Reply:
    place = place_of(visit)
    try:
        place.call("POST", route)
    except Unchanged:
        pass  # It is so already, which is what was wished for.
    return Redirect(place.url)


def show_home(place: Place, db: Connection) -> Reply:
    """The project with its newest commit, files and README, or the way to a first push."""
    project, visit = place.project, place.visit
    may_star = place.may("POST", "/star")
    _, record = find_project(db, visit.actor_or_nobody, project.id)
    context: dict[str, Any] = {
        "description": html_of(visit, project.description, project.id),
        "may_star": may_star,
        "starred": may_star and star_or_none(db, visit.signed_in.id, record) is not None,
        "may_fork": place.may("POST", "/fork"),
        "may_write": place.may("POST", "/repository/commits"),
        "state": place.get("/import") if project.import_status in (*_IMPORTING, "failed") else None,
        "importing": project.import_status in _IMPORTING,
        "belonging": belonging(place, db),
        "addresses": clone_addresses(db, project),
        "code": None,
    }
    if not project.empty_repo and place.may("GET", "/repository/tree"):
        context["code"] = _code(place, db)
    commit = context["code"]["where"].commit if context["code"] else None
    context["badges"] = shown_badges(db, record, commit, visit.origin.base)
    return place.page("projects/home.html", "home", context)


def _code(place: Place, db: Connection) -> dict[str, Any] | None:
    """What the default branch holds; nothing where it is gone."""
    code = code_of(place, db)
    branch = code.project.default_branch or "HEAD"
    commit = commit_id(code.repository, branch)
    if commit is None:
        return None
    where = Where(place, code, branch, commit, "")
    listing = list_entries(code.repository, ListTree(ref=commit), "", ListPage(1, _ENTRIES))
    entries = [entry_view(entry) for entry in listing.items]
    return {
        "where": where,
        "rows": entry_rows(where, listing.items, db.now, "known"),
        "rows_address": f"{where.url('tree', '')}?last=1&most={_ENTRIES}",
        "more": (listing.total or 0) > len(entries),
        "last": last_commit(where),
        "commits": count_commits(code.repository, commit),
        "languages": languages_of(code.repository, commit),
        "weeks": commits_by_week(code.repository, commit, db.now),
        "readme": readme_of(where, entries),
        "licence": _licence([entry.name for entry in entries if entry.type == "blob"]),
        "release": _release(place),
    }


def _licence(files: list[str]) -> str | None:
    return next((name for name in files if name.lower().partition(".")[0] in _LICENCES), None)


def _release(place: Place) -> Any:
    """What came out last, if anything did."""
    try:
        return place.get("/releases/permalink/latest")
    except NotFound:
        return None


def _of_git(visit: Visit) -> Reply | None:
    """The project whose address for git somebody has opened."""
    path = visit.path["path"]
    if not path.endswith(".git"):
        return None
    try:
        return Redirect(f"/{visit.get('/projects/:id', id=path.removesuffix('.git')).path_with_namespace}")
    except NotFound:
        return None


def _somebody(visit: Visit) -> Reply:
    """A person's page, or a group's, which has an address of its own."""
    person = person_or_none(visit, visit.path["path"])
    if person is not None:
        return show_person(visit, person)
    moved = visit.database.read(lambda db: moved_namespace(db, visit.path["path"]))
    if moved is not None and moved.kind == "user":
        return Redirect(f"/{moved.full_path}")
    group = visit.get("/groups/:id", id=visit.path["path"])
    return Redirect(f"/groups/{group.full_path}")
