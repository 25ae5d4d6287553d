"""Endpoints of badges."""

from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.badges import queries, service
from ingot.projects.badges.params import CreateBadge, EditBadge, ListBadges, RenderBadge
from ingot.projects.badges.views import BadgeRenderer, BadgeView, RenderedBadgeView, badge_view, rendered_view
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group, may_see_group
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.params import ListProjects
from ingot.projects.projects.parents import ProjectOrGroup, member_source
from ingot.projects.projects.policy import may_admin_project, may_change_project, may_download_code, may_see_project
from ingot.projects.projects.queries import find_project, list_group_projects
from ingot.projects.projects.tables import Project

routes = Routes("badges")
_FIRST_PROJECT = ListProjects(order_by="id", sort="asc")


def _badge_renderer(call: Call, owner: ProjectOrGroup) -> BadgeRenderer:
    """Return the renderer for a project, or for the first project of a group that the caller may see."""

    def commit_sha(project: Project) -> str | None:
        access, _ = find_project(call.db, call.actor, project.id)
        if not may_download_code(call.actor, access, project):
            return None
        return repository_store(call.settings).open(project.repository_key).tip(f"refs/heads/{project.default_branch}")

    if isinstance(owner, Project):
        return BadgeRenderer(owner, commit_sha)
    visible = list_group_projects(call.db, call.actor, owner, _FIRST_PROJECT, Page(size=1)).items
    return BadgeRenderer(visible[0] if visible else None, commit_sha)


@routes.get("/groups/:id/badges", on=group_in_path, may=may_see_group, returns=list[BadgeView])
@routes.get("/projects/:id/badges", on=project_in_path, may=may_see_project, returns=list[BadgeView])
def list_badges(call: Call, owner: ProjectOrGroup, params: ListBadges, page: Page) -> Listing[BadgeView]:
    """List the badges of a group, or those of a project and its groups."""
    listing, rendering = (
        queries.list_badges(call.db, member_source(owner), params.name, page),
        _badge_renderer(call, owner),
    )
    return listing.of([badge_view(badge, rendering) for badge in listing.items])


@routes.get("/groups/:id/badges/render", on=group_in_path, may=may_admin_group, returns=RenderedBadgeView)
@routes.get("/projects/:id/badges/render", on=project_in_path, may=may_admin_project, returns=RenderedBadgeView)
def render_badge(call: Call, owner: ProjectOrGroup, params: RenderBadge) -> RenderedBadgeView:
    """Preview a badge on a project, or on a project of a group."""
    service.validate_badge(None, params.link_url, params.image_url)
    return rendered_view(None, params.link_url, params.image_url, _badge_renderer(call, owner))


@routes.get("/groups/:id/badges/:badge_id", on=group_in_path, may=may_see_group, returns=BadgeView)
@routes.get("/projects/:id/badges/:badge_id", on=project_in_path, may=may_see_project, returns=BadgeView)
def get_badge(call: Call, owner: ProjectOrGroup) -> BadgeView:
    """Get a badge of a project or group."""
    badge = queries.find_badge(call.db, member_source(owner), path_number(call.path, "badge_id"))
    return badge_view(badge, _badge_renderer(call, owner))


@routes.post("/groups/:id/badges", on=group_in_path, may=may_admin_group, returns=BadgeView)
@routes.post("/projects/:id/badges", on=project_in_path, may=may_change_project, returns=BadgeView)
def create_badge(call: Call, owner: ProjectOrGroup, params: CreateBadge) -> BadgeView:
    """Create a badge of a project, or of a group for all projects in it."""
    return badge_view(service.create_badge(call.db, member_source(owner), params), _badge_renderer(call, owner))


@routes.put("/groups/:id/badges/:badge_id", on=group_in_path, may=may_admin_group, returns=BadgeView)
@routes.put("/projects/:id/badges/:badge_id", on=project_in_path, may=may_change_project, returns=BadgeView)
def edit_badge(call: Call, owner: ProjectOrGroup, params: EditBadge) -> BadgeView:
    """Edit a badge of a project or group."""
    source = member_source(owner)
    badge = queries.find_badge(call.db, source, path_number(call.path, "badge_id"))
    return badge_view(service.edit_badge(call.db, source, badge, params), _badge_renderer(call, owner))


@routes.delete("/groups/:id/badges/:badge_id", on=group_in_path, may=may_admin_group, returns=None)
@routes.delete("/projects/:id/badges/:badge_id", on=project_in_path, may=may_change_project, returns=None)
def delete_badge(call: Call, owner: ProjectOrGroup) -> None:
    """Delete a badge of a project or group."""
    badge = queries.badge_or_none(call.db, member_source(owner), path_number(call.path, "badge_id"))
    if badge is not None:
        service.delete_badge(call.db, badge)
