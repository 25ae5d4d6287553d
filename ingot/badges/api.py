"""Badges over the API."""

from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.badges import queries, service
from ingot.badges.params import CreateBadge, EditBadge, ListBadges, RenderBadge
from ingot.badges.views import BadgeView, RenderedBadgeView, Rendering, badge_view, rendered_view
from ingot.db.paging import Listing, Page
from ingot.groups.api import group_in_path
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_admin_group, may_see_group
from ingot.groups.queries import source_of as source_of_group
from ingot.projects.api import project_in_path, store_of
from ingot.projects.params import ListProjects
from ingot.projects.policy import may_admin_project, may_change_project, may_download_code, may_see_project
from ingot.projects.queries import find_project, list_group_projects
from ingot.projects.queries import source_of as source_of_project
from ingot.projects.tables import Project

routes = Routes("badges")
_FIRST = ListProjects(order_by="id", sort="asc")


def _for_project(call: Call, project: Project | None) -> Rendering:
    def commit_sha(shown: Project) -> str | None:
        here, _ = find_project(call.db, call.actor, shown.id)
        if not may_download_code(call.actor, here, shown):
            return None
        return store_of(call.settings).open(shown.repository_key).tip(f"refs/heads/{shown.default_branch}")

    return Rendering(project, commit_sha)


def _for_group(call: Call, group: Namespace) -> Rendering:
    """A group's badges are shown as on the first of its projects that the caller may see."""
    found = list_group_projects(call.db, call.actor, group, _FIRST, Page(size=1)).items
    return _for_project(call, found[0] if found else None)


def _list(call: Call, source: Source, params: ListBadges, page: Page, rendering: Rendering) -> Listing[BadgeView]:
    found = queries.list_badges(call.db, source, params.name, page)
    return found.of([badge_view(badge, rendering) for badge in found.items])


def _edit(call: Call, source: Source, params: EditBadge, rendering: Rendering) -> BadgeView:
    badge = queries.find_badge(call.db, source, path_number(call.path, "badge_id"))
    return badge_view(service.edit_badge(call.db, source, badge, params), rendering)


def _delete(call: Call, source: Source) -> None:
    badge = queries.badge_or_none(call.db, source, path_number(call.path, "badge_id"))
    if badge is not None:
        service.delete_badge(call.db, badge)


def _render(params: RenderBadge, rendering: Rendering) -> RenderedBadgeView:
    service.validate(None, params.link_url, params.image_url)
    return rendered_view(None, params.link_url, params.image_url, rendering)


@routes.get("/projects/:id/badges", on=project_in_path, may=may_see_project, returns=list[BadgeView])
def list_project_badges(call: Call, project: Project, params: ListBadges, page: Page) -> Listing[BadgeView]:
    """List the badges of a project and of the groups around it."""
    return _list(call, source_of_project(project), params, page, _for_project(call, project))


@routes.get("/projects/:id/badges/render", on=project_in_path, may=may_admin_project, returns=RenderedBadgeView)
def render_project_badge(call: Call, project: Project, params: RenderBadge) -> RenderedBadgeView:
    """See what a badge would look like on a project."""
    return _render(params, _for_project(call, project))


@routes.get("/projects/:id/badges/:badge_id", on=project_in_path, may=may_see_project, returns=BadgeView)
def get_project_badge(call: Call, project: Project) -> BadgeView:
    """Get a badge of a project."""
    badge = queries.find_badge(call.db, source_of_project(project), path_number(call.path, "badge_id"))
    return badge_view(badge, _for_project(call, project))


@routes.post("/projects/:id/badges", on=project_in_path, may=may_change_project, returns=BadgeView)
def create_project_badge(call: Call, project: Project, params: CreateBadge) -> BadgeView:
    """Create a badge of a project."""
    badge = service.create_badge(call.db, source_of_project(project), params)
    return badge_view(badge, _for_project(call, project))


@routes.put("/projects/:id/badges/:badge_id", on=project_in_path, may=may_change_project, returns=BadgeView)
def edit_project_badge(call: Call, project: Project, params: EditBadge) -> BadgeView:
    """Edit a badge of a project."""
    return _edit(call, source_of_project(project), params, _for_project(call, project))


@routes.delete("/projects/:id/badges/:badge_id", on=project_in_path, may=may_change_project, returns=None)
def delete_project_badge(call: Call, project: Project) -> None:
    """Delete a badge of a project."""
    _delete(call, source_of_project(project))


@routes.get("/groups/:id/badges", on=group_in_path, may=may_see_group, returns=list[BadgeView])
def list_group_badges(call: Call, group: Namespace, params: ListBadges, page: Page) -> Listing[BadgeView]:
    """List the badges of a group."""
    return _list(call, source_of_group(group), params, page, _for_group(call, group))


@routes.get("/groups/:id/badges/render", on=group_in_path, may=may_admin_group, returns=RenderedBadgeView)
def render_group_badge(call: Call, group: Namespace, params: RenderBadge) -> RenderedBadgeView:
    """See what a badge would look like on a project of a group."""
    return _render(params, _for_group(call, group))


@routes.get("/groups/:id/badges/:badge_id", on=group_in_path, may=may_see_group, returns=BadgeView)
def get_group_badge(call: Call, group: Namespace) -> BadgeView:
    """Get a badge of a group."""
    badge = queries.find_badge(call.db, source_of_group(group), path_number(call.path, "badge_id"))
    return badge_view(badge, _for_group(call, group))


@routes.post("/groups/:id/badges", on=group_in_path, may=may_admin_group, returns=BadgeView)
def create_group_badge(call: Call, group: Namespace, params: CreateBadge) -> BadgeView:
    """Create a badge of a group, for all projects in it."""
    return badge_view(service.create_badge(call.db, source_of_group(group), params), _for_group(call, group))


@routes.put("/groups/:id/badges/:badge_id", on=group_in_path, may=may_admin_group, returns=BadgeView)
def edit_group_badge(call: Call, group: Namespace, params: EditBadge) -> BadgeView:
    """Edit a badge of a group."""
    return _edit(call, source_of_group(group), params, _for_group(call, group))


@routes.delete("/groups/:id/badges/:badge_id", on=group_in_path, may=may_admin_group, returns=None)
def delete_group_badge(call: Call, group: Namespace) -> None:
    """Delete a badge of a group."""
    _delete(call, source_of_group(group))
