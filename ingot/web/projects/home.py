"""What is at a path: a project's home, a group or a person; and the stars of a project."""

from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.errors import NotFound, Unchanged
from ingot.git.history.commits import commit_id_or_none
from ingot.git.history.log import count_commits
from ingot.projects.namespaces.queries import namespace_by_old_path
from ingot.projects.projects.queries import find_project, star_or_none
from ingot.repositories.trees.params import ListTree
from ingot.repositories.trees.queries import list_entries
from ingot.repositories.trees.views import entry_view
from ingot.web.code.activity import commits_by_week
from ingot.web.code.languages import repository_languages
from ingot.web.code.location import CodeLocation, readable_code
from ingot.web.code.tree_rows import entry_rows
from ingot.web.code.trees import find_last_commit, find_readme
from ingot.web.explore.users import show_user_page, visible_user_or_none
from ingot.web.groups.membership import membership_status
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.badges import rendered_badges
from ingot.web.projects.clone_urls import clone_urls
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.texts import render_markdown

pages = PageRoutes()
_ENTRIES = 500
_LICENSE_FILES = ("license", "licence", "copying", "unlicense")
_IMPORTING = ("scheduled", "started")


@pages.get("/:path", open=True)
def show_path(visit: Visit, db: Connection) -> PageResponse:
    """A project's home; what is no project may be a group."""
    try:
        place = project_context(visit)
    except NotFound:
        return _project_by_git_url(visit) or _user_or_group_page(visit)
    return show_home(place, db)


@pages.get("/:path/-/import", open=True)
def show_import(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """How an import goes; a script asks for this part until it is done, and then shows the project."""
    place = project_context(visit)
    state = place.get("/import")
    if not visit.fragment:
        return LocalRedirect(place.url)
    done = [] if state.import_status in _IMPORTING else [(b"hx-refresh", b"true")]
    return TemplateResponse("projects/_import.html", {"place": place, "state": state}, headers=done)


@pages.post("/:path/-/star")
def star(visit: Visit) -> PageResponse:
    """Star it."""
    return _change_star(visit, "/star")


@pages.post("/:path/-/unstar")
def unstar(visit: Visit) -> PageResponse:
    """Take the star back."""
    return _change_star(visit, "/unstar")


def _change_star(visit: Visit, route: str) -> PageResponse:
    place = project_context(visit)
    try:
        place.call("POST", route)
    except Unchanged:
        pass  # It is so already, which is what was wished for.
    return LocalRedirect(place.url)


def show_home(place: ProjectContext, db: Connection) -> PageResponse:
    """The project with its newest commit, files and README, or the way to a first push."""
    project, visit = place.project, place.visit
    may_star = place.may("POST", "/star")
    _, record = find_project(db, visit.actor_or_anonymous, project.id)
    context: dict[str, Any] = {
        "description": render_markdown(visit, project.description, project.id),
        "may_star": may_star,
        "starred": may_star and star_or_none(db, visit.signed_in.id, record) is not None,
        "may_fork": place.may("POST", "/fork"),
        "may_write": place.may("POST", "/repository/commits"),
        "state": place.get("/import") if project.import_status in (*_IMPORTING, "failed") else None,
        "importing": project.import_status in _IMPORTING,
        "belonging": membership_status(place, db),
        "addresses": clone_urls(db, project),
        "code": None,
    }
    if not project.empty_repo and place.may("GET", "/repository/tree"):
        context["code"] = _code_context(place, db)
    commit = context["code"]["where"].commit if context["code"] else None
    context["badges"] = rendered_badges(db, record, commit, visit.origin.base)
    return place.page("projects/home.html", "home", context)


def _code_context(place: ProjectContext, db: Connection) -> dict[str, Any] | None:
    """What the default branch holds; nothing where it is gone."""
    code = readable_code(place, db)
    branch = code.project.default_branch or "HEAD"
    commit = commit_id_or_none(code.repository, branch)
    if commit is None:
        return None
    where = CodeLocation(place, code, branch, commit, "")
    listing = list_entries(code.repository, ListTree(ref=commit), "", ListPage(1, _ENTRIES))
    entries = [entry_view(entry) for entry in listing.items]
    return {
        "where": where,
        "rows": entry_rows(where, listing.items, db.now, "known"),
        "rows_address": f"{where.url('tree', '')}?last=1&most={_ENTRIES}",
        "more": (listing.total or 0) > len(entries),
        "last": find_last_commit(where),
        "commits": count_commits(code.repository, commit),
        "languages": repository_languages(code.repository, commit),
        "weeks": commits_by_week(code.repository, commit, db.now),
        "readme": find_readme(where, entries),
        "licence": _find_license([entry.name for entry in entries if entry.type == "blob"]),
        "release": _latest_release(place),
    }


def _find_license(files: list[str]) -> str | None:
    return next((name for name in files if name.lower().partition(".")[0] in _LICENSE_FILES), None)


def _latest_release(place: ProjectContext) -> Any:
    """What came out last, if anything did."""
    try:
        return place.get("/releases/permalink/latest")
    except NotFound:
        return None


def _project_by_git_url(visit: Visit) -> PageResponse | None:
    """The project whose address for git somebody has opened."""
    path = visit.path["path"]
    if not path.endswith(".git"):
        return None
    try:
        return LocalRedirect(f"/{visit.get('/projects/:id', id=path.removesuffix('.git')).path_with_namespace}")
    except NotFound:
        return None


def _user_or_group_page(visit: Visit) -> PageResponse:
    """A person's page, or a group's, which has an address of its own."""
    person = visible_user_or_none(visit, visit.path["path"])
    if person is not None:
        return show_user_page(visit, person)
    moved = visit.database.read(lambda db: namespace_by_old_path(db, visit.path["path"]))
    if moved is not None and moved.kind == "user":
        return LocalRedirect(f"/{moved.full_path}")
    group = visit.get("/groups/:id", id=visit.path["path"])
    return LocalRedirect(f"/groups/{group.full_path}")
