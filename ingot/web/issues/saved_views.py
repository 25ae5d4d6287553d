"""Saved views of lists of issues and merge requests: the menu on the list, and the page that changes them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ingot.collaboration.issues import api as issues_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.planning.saved_views import service
from ingot.collaboration.planning.saved_views.service import ListKind, ViewedList, list_saved_views, saved_query
from ingot.core.api.params import number_or_none
from ingot.core.errors import NotFound
from ingot.web.form_errors import FORM_ERRORS, error_messages
from ingot.web.formats import with_query
from ingot.web.issues.group_context import GroupContext, ProjectOrGroupContext, group_context
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_LISTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "issues": (issues_api.list_project_issues, issues_api.list_group_issues),
    "merge_requests": (
        merge_requests_api.list_project_merge_requests,
        merge_requests_api.list_group_merge_requests,
    ),
}


class SavedViewMenu(NamedTuple):
    """Menu of the views of a list."""

    list_url: str
    url: str
    """Path that changes the views."""
    views: list[Any]
    """Views by name, with ``id``, ``name`` and ``query``."""
    query: str
    """Present filter, as it would be saved."""
    kind: ListKind


def saved_view_menu(visit: Visit, parent: ProjectOrGroupContext | None, kind: ListKind) -> SavedViewMenu | None:
    """Return the menu of a list, or None for a visitor who is not signed in; without parent of the dashboard."""
    if visit.viewer.user is None:
        return None
    of = _viewed_list(visit, parent, kind)
    views = visit.database.read(lambda db: list_saved_views(db, of))
    return SavedViewMenu(
        f"{_base(parent)}/{kind}",
        f"{_base(parent)}/saved_views/{kind}",
        views,
        saved_query(with_query(visit.request.query)),
        kind,
    )


def _base(parent: ProjectOrGroupContext | None) -> str:
    return "/dashboard" if parent is None else f"{parent.url}/-"


def _viewed_list(visit: Visit, parent: ProjectOrGroupContext | None, kind: ListKind) -> ViewedList:
    project_id = parent.project.id if isinstance(parent, ProjectContext) else None
    group_id = parent.group.id if isinstance(parent, GroupContext) else None
    return ViewedList(visit.viewer.signed_in.id, kind, project_id, group_id)


def _in_path(visit: Visit, parent: ProjectOrGroupContext | None) -> ViewedList:
    """Return the list that the path names; raise NotFound without permission to see it."""
    kind = visit.request.path["kind"]
    if kind not in _LISTS or (parent is not None and not parent.may(parent.either(*_LISTS[kind]))):
        raise NotFound("Saved view")
    return _viewed_list(visit, parent, "issues" if kind == "issues" else "merge_requests")


@pages.get("/:path/-/saved_views/:kind")
def show_project_views(visit: Visit) -> PageResponse:
    """List the user's views of a list of a project."""
    return _show(visit, project_context(visit))


@pages.get("/groups/:path/-/saved_views/:kind")
def show_group_views(visit: Visit) -> PageResponse:
    """List the user's views of a list of a group."""
    return _show(visit, group_context(visit))


@pages.get("/dashboard/saved_views/:kind")
def show_own_views(visit: Visit) -> PageResponse:
    """List the user's views of a list of the dashboard."""
    return _show(visit, None)


@pages.post("/:path/-/saved_views/:kind", notice="View saved.")
def save_project_view(visit: Visit) -> PageResponse:
    """Save a filter of a list of a project."""
    return _save(visit, project_context(visit))


@pages.post("/groups/:path/-/saved_views/:kind", notice="View saved.")
def save_group_view(visit: Visit) -> PageResponse:
    """Save a filter of a list of a group."""
    return _save(visit, group_context(visit))


@pages.post("/dashboard/saved_views/:kind", notice="View saved.")
def save_own_view(visit: Visit) -> PageResponse:
    """Save a filter of a list of the dashboard."""
    return _save(visit, None)


@pages.put("/:path/-/saved_views/:kind/:view_id", notice="View renamed.")
def rename_project_view(visit: Visit) -> PageResponse:
    """Rename a view of a list of a project."""
    return _rename(visit, project_context(visit))


@pages.put("/groups/:path/-/saved_views/:kind/:view_id", notice="View renamed.")
def rename_group_view(visit: Visit) -> PageResponse:
    """Rename a view of a list of a group."""
    return _rename(visit, group_context(visit))


@pages.put("/dashboard/saved_views/:kind/:view_id", notice="View renamed.")
def rename_own_view(visit: Visit) -> PageResponse:
    """Rename a view of a list of the dashboard."""
    return _rename(visit, None)


@pages.delete("/:path/-/saved_views/:kind/:view_id", notice="View deleted.")
def delete_project_view(visit: Visit) -> PageResponse:
    """Delete a view of a list of a project."""
    return _delete(visit, project_context(visit))


@pages.delete("/groups/:path/-/saved_views/:kind/:view_id", notice="View deleted.")
def delete_group_view(visit: Visit) -> PageResponse:
    """Delete a view of a list of a group."""
    return _delete(visit, group_context(visit))


@pages.delete("/dashboard/saved_views/:kind/:view_id", notice="View deleted.")
def delete_own_view(visit: Visit) -> PageResponse:
    """Delete a view of a list of the dashboard."""
    return _delete(visit, None)


def _show(visit: Visit, parent: ProjectOrGroupContext | None, errors: list[str] | None = None) -> PageResponse:
    of = _in_path(visit, parent)
    layout = "layout.html"
    if parent is not None:
        layout = "project.html" if isinstance(parent, ProjectContext) else "issues/group.html"
    context: dict[str, Any] = {
        "layout": layout,
        "menu": saved_view_menu(visit, parent, of.kind),
        "errors": errors or [],
    }
    status = 422 if errors else 200
    if parent is None:
        return TemplateResponse("issues/saved_views.html", context, status)
    return parent.page("issues/saved_views.html", of.kind, context, status)


def _save(visit: Visit, parent: ProjectOrGroupContext | None) -> PageResponse:
    of, form = _in_path(visit, parent), visit.request.form
    name, query = text_field(form, "name"), text_field(form, "query")
    try:
        view = visit.database.write(lambda db: service.save_view(db, of, name, query))
    except FORM_ERRORS as error:
        return _show(visit, parent, error_messages(error))
    return LocalRedirect(f"{_base(parent)}/{of.kind}?{view.query}")


def _rename(visit: Visit, parent: ProjectOrGroupContext | None) -> PageResponse:
    of, view_id, name = _in_path(visit, parent), _view_id(visit), text_field(visit.request.form, "name")
    try:
        visit.database.write(lambda db: service.rename_view(db, of, view_id, name))
    except FORM_ERRORS as error:
        return _show(visit, parent, error_messages(error))
    return LocalRedirect(f"{_base(parent)}/saved_views/{of.kind}")


def _delete(visit: Visit, parent: ProjectOrGroupContext | None) -> PageResponse:
    of, view_id = _in_path(visit, parent), _view_id(visit)
    visit.database.write(lambda db: service.delete_view(db, of, view_id))
    return LocalRedirect(f"{_base(parent)}/saved_views/{of.kind}")


def _view_id(visit: Visit) -> int:
    return number_or_none(visit.request.path["view_id"]) or 0
