"""Home page of a project, and dispatch of ``/:path`` to projects, groups and users."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.releases import api as releases_api
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.core.errors import NotFound, Unchanged
from ingot.projects.badges.views import badges_of_project
from ingot.projects.forks import api as forks_api
from ingot.projects.group_projects import api as group_projects_api
from ingot.projects.imports import api as imports_api
from ingot.projects.namespaces.views import moved_user_path
from ingot.projects.projects import api as projects_api
from ingot.projects.sharing import api as sharing_api
from ingot.projects.sharing.views import has_starred
from ingot.repositories import browser
from ingot.repositories.commit_writing import api as commit_writing_api
from ingot.repositories.trees import api as trees_api
from ingot.repositories.trees.views import entry_view
from ingot.web.ci.outcomes import pipeline_outcomes
from ingot.web.code.activity import commits_by_week
from ingot.web.code.languages import repository_languages
from ingot.web.code.location import CodeLocation, readable_code
from ingot.web.code.tree_rows import entry_rows
from ingot.web.code.trees import find_last_commit, find_readme
from ingot.web.explore.feeds import (
    feed_address,
    feed_visit_at_path,
    group_activity_feed,
    is_feed_path,
    project_activity_feed,
    user_activity_feed,
)
from ingot.web.explore.users import show_user_page, visible_user_or_none
from ingot.web.groups.membership import membership_status
from ingot.web.groups.notification_settings import watch_menu_or_none
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.profile.public_keys import keys_at_path
from ingot.web.projects.badges import page_badge
from ingot.web.projects.clone_urls import clone_urls
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.projects.recent_push import recent_push_or_none
from ingot.web.texts import render_markdown

pages = PageRoutes()
_ENTRIES = 500
_LICENSE_FILES = ("license", "licence", "copying", "unlicense")
_IMPORTING = ("scheduled", "started")


@pages.get("/:path", open=True)
def show_path(visit: Visit, db: Connection) -> PageResponse:
    """Show the project at a path; otherwise the user or group with this path, or the feed for ``….atom``."""
    if is_feed_path(visit):
        return _feed_at_path(visit)
    try:
        parent = project_context(visit)
    except NotFound:
        return _project_by_git_url(visit) or keys_at_path(visit, db) or _user_or_group_page(visit)
    return show_home(parent, db)


@pages.get("/:path/-/import", open=True)
def show_import(visit: Visit) -> PageResponse:
    """Show the progress of an import; the page polls this fragment and reloads when the import is done."""
    parent = project_context(visit)
    state = parent.ask(imports_api.get_import)
    if not visit.headers.fragment:
        return LocalRedirect(parent.url)
    done = [] if state.import_status in _IMPORTING else [(b"hx-refresh", b"true")]
    return TemplateResponse("projects/_import.html", {"parent": parent, "state": state}, headers=done)


@pages.post("/:path/-/star", notice="Project starred.")
def star(visit: Visit) -> PageResponse:
    """Star a project."""
    return _change_star(visit, sharing_api.star_project)


@pages.post("/:path/-/unstar", notice="Star removed.")
def unstar(visit: Visit) -> PageResponse:
    """Unstar a project."""
    return _change_star(visit, sharing_api.unstar_project)


def _change_star(visit: Visit, endpoint: Callable[..., object]) -> PageResponse:
    parent = project_context(visit)
    try:
        parent.ask(endpoint)
    except Unchanged:
        pass  # The star is already in the requested state.
    return LocalRedirect(parent.url)


def show_home(parent: ProjectContext, db: Connection) -> PageResponse:
    """Show a project with its latest commit, files and README, or instructions for the first push."""
    project, visit = parent.project, parent.visit
    may_star = parent.may(sharing_api.star_project)
    record = parent.find(projects_api.get_project).project
    context: dict[str, Any] = {
        "description": render_markdown(visit, project.description, project.id),
        "may_star": may_star,
        "starred": may_star and has_starred(db, visit.viewer.signed_in.id, record),
        "may_fork": parent.may(forks_api.fork_project),
        "may_write": parent.may(commit_writing_api.create_commit),
        "state": parent.ask(imports_api.get_import) if project.import_status in (*_IMPORTING, "failed") else None,
        "importing": project.import_status in _IMPORTING,
        "membership": membership_status(parent, db),
        "watch": watch_menu_or_none(parent),
        "clone_urls": clone_urls(db, project),
        "may_read_code": parent.may(trees_api.list_tree),
        "code": None,
        "recent_push": None,
        "feed": _activity_feed_address(parent),
    }
    if not project.empty_repo and context["may_read_code"]:
        context["code"] = _code_context(parent, db)
        context["recent_push"] = recent_push_or_none(parent, db)
    commit = context["code"]["location"].commit if context["code"] else None
    context["badges"] = [
        page_badge(badge, visit.request.origin.base) for badge in badges_of_project(db, record, commit)
    ]
    return parent.page("projects/home.html", "home", context)


def _activity_feed_address(parent: ProjectContext) -> str:
    """Return the address of the project's feed; anyone can read that of a public project without a token."""
    path = f"{parent.url}/-/activity.atom"
    return path if parent.project.visibility == "public" else feed_address(parent.visit, path)


def _code_context(parent: ProjectContext, db: Connection) -> dict[str, Any] | None:
    """Return the content of the default branch; None if the branch does not exist."""
    code = readable_code(parent)
    branch = code.project.default_branch or "HEAD"
    commit = browser.commit_or_none(code.repository, branch)
    if commit is None:
        return None
    location = CodeLocation(parent, code.repository, branch, commit, "")
    listing = browser.list_folder(code.repository, commit, "", ListPage(1, _ENTRIES))
    entries = [entry_view(entry) for entry in listing.items]
    last = find_last_commit(location)
    return {
        "location": location,
        "outcome": pipeline_outcomes(parent, db, [last]).get(last.id),
        "rows": entry_rows(location, listing.items, db.now, "cached"),
        "rows_address": f"{location.url('tree', '')}?last=1&most={_ENTRIES}",
        "more": (listing.total or 0) > len(entries),
        "last": last,
        "commits": browser.count_commits(code.repository, commit),
        "languages": repository_languages(code.repository, commit),
        "weeks": commits_by_week(code.repository, commit, db.now),
        "readme": find_readme(location, entries),
        "licence": _find_license([entry.name for entry in entries if entry.type == "blob"]),
        "has_releases": parent.may(releases_api.list_releases),
        "release": _latest_release(parent),
    }


def _find_license(files: list[str]) -> str | None:
    return next((name for name in files if name.lower().partition(".")[0] in _LICENSE_FILES), None)


def _latest_release(parent: ProjectContext) -> Any:
    """Return the latest release, or None if there is none or the user may not see it."""
    if not parent.may(releases_api.get_latest_release):
        return None
    try:
        return parent.ask(releases_api.get_latest_release)
    except NotFound:
        return None


def _feed_at_path(visit: Visit) -> PageResponse:
    """Return the activity of a user, project or group as a feed."""
    visit = feed_visit_at_path(visit)
    user = visible_user_or_none(visit, visit.request.path["path"])
    if user is not None:
        return user_activity_feed(visit, user)
    try:
        return project_activity_feed(visit)
    except NotFound:
        return group_activity_feed(visit)


def _project_by_git_url(visit: Visit) -> PageResponse | None:
    """Redirect from a clone URL (``….git``) to the project; None if there is no such project."""
    path = visit.request.path["path"]
    if not path.endswith(".git"):
        return None
    try:
        return LocalRedirect(
            f"/{visit.ask(projects_api.get_project, id=path.removesuffix('.git')).path_with_namespace}"
        )
    except NotFound:
        return None


def _user_or_group_page(visit: Visit) -> PageResponse:
    """Show the user with this path, or redirect to the renamed user or to the group."""
    user = visible_user_or_none(visit, visit.request.path["path"])
    if user is not None:
        return show_user_page(visit, user)
    moved = visit.database.read(lambda db: moved_user_path(db, visit.request.path["path"]))
    if moved is not None:
        return LocalRedirect(f"/{moved}")
    group = visit.ask(group_projects_api.get_group, id=visit.request.path["path"])
    return LocalRedirect(f"/groups/{group.full_path}")
