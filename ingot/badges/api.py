"""Badges over the API."""

from ingot.api.params import path_number
from ingot.api.routes import Call, Routes
from ingot.badges import queries, service
from ingot.badges.params import CreateBadge, EditBadge, ListBadges, RenderBadge
from ingot.badges.views import BadgeView, RenderedBadgeView, Rendering, badge_view, rendered_view
from ingot.db.paging import Listing, Page
from ingot.groups.api import group_in_path
from ingot.groups.policy import may_admin_group, may_see_group
from ingot.projects.api import project_in_path, store_of
from ingot.projects.params import ListProjects
from ingot.projects.places import Place, source_of
from ingot.projects.policy import may_admin_project, may_change_project, may_download_code, may_see_project
from ingot.projects.queries import find_project, list_group_projects
from ingot.projects.tables import Project

routes = Routes("badges")
_FIRST = ListProjects(order_by="id", sort="asc")


def _rendering(call: Call, place: Place) -> Rendering:
    """How badges look there; a group's are shown as on the first of its projects that the caller may see."""

    def commit_sha(shown: Project) -> str | None:
        here, _ = find_project(call.db, call.actor, shown.id)
        if not may_download_code(call.actor, here, shown):
            return None
        return store_of(call.settings).open(shown.repository_key).tip(f"refs/heads/{shown.default_branch}")

    if isinstance(place, Project):
        return Rendering(place, commit_sha)
    found = list_group_projects(call.db, call.actor, place, _FIRST, Page(size=1)).items
    return Rendering(found[0] if found else None, commit_sha)


@routes.get("/groups/:id/badges", on=group_in_path, may=may_see_group, returns=list[BadgeView])
@routes.get("/projects/:id/badges", on=project_in_path, may=may_see_project, returns=list[BadgeView])
def list_badges(call: Call, place: Place, params: ListBadges, page: Page) -> Listing[BadgeView]:
    """List the badges of a group, or those of a project and of the groups around it."""
    found, rendering = queries.list_badges(call.db, source_of(place), params.name, page), _rendering(call, place)
    return found.of([badge_view(badge, rendering) for badge in found.items])


@routes.get("/groups/:id/badges/render", on=group_in_path, may=may_admin_group, returns=RenderedBadgeView)
@routes.get("/projects/:id/badges/render", on=project_in_path, may=may_admin_project, returns=RenderedBadgeView)
def render_badge(call: Call, place: Place, params: RenderBadge) -> RenderedBadgeView:
    """See what a badge would look like on a project, or on one of a group."""
    service.validate(None, params.link_url, params.image_url)
    return rendered_view(None, params.link_url, params.image_url, _rendering(call, place))


@routes.get("/groups/:id/badges/:badge_id", on=group_in_path, may=may_see_group, returns=BadgeView)
@routes.get("/projects/:id/badges/:badge_id", on=project_in_path, may=may_see_project, returns=BadgeView)
def get_badge(call: Call, place: Place) -> BadgeView:
    """Get a badge of a project or group."""
    badge = queries.find_badge(call.db, source_of(place), path_number(call.path, "badge_id"))
    return badge_view(badge, _rendering(call, place))


@routes.post("/groups/:id/badges", on=group_in_path, may=may_admin_group, returns=BadgeView)
@routes.post("/projects/:id/badges", on=project_in_path, may=may_change_project, returns=BadgeView)
def create_badge(call: Call, place: Place, params: CreateBadge) -> BadgeView:
    """Create a badge of a project, or of a group for all projects in it."""
    return badge_view(service.create_badge(call.db, source_of(place), params), _rendering(call, place))


@routes.put("/groups/:id/badges/:badge_id", on=group_in_path, may=may_admin_group, returns=BadgeView)
@routes.put("/projects/:id/badges/:badge_id", on=project_in_path, may=may_change_project, returns=BadgeView)
def edit_badge(call: Call, place: Place, params: EditBadge) -> BadgeView:
    """Edit a badge of a project or group."""
    source = source_of(place)
    badge = queries.find_badge(call.db, source, path_number(call.path, "badge_id"))
    return badge_view(service.edit_badge(call.db, source, badge, params), _rendering(call, place))


@routes.delete("/groups/:id/badges/:badge_id", on=group_in_path, may=may_admin_group, returns=None)
@routes.delete("/projects/:id/badges/:badge_id", on=project_in_path, may=may_change_project, returns=None)
def delete_badge(call: Call, place: Place) -> None:
    """Delete a badge of a project or group."""
    badge = queries.badge_or_none(call.db, source_of(place), path_number(call.path, "badge_id"))
    if badge is not None:
        service.delete_badge(call.db, badge)
