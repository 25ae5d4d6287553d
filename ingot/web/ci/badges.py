"""Badges of the status of pipelines, of the coverage and of the latest release, for pages of other sites."""

from ingot.ci.pipelines.badges import (
    CiBadge,
    coverage_badge,
    pipeline_badge,
    release_badge,
    render_badge,
    with_widths,
)
from ingot.collaboration.releases import api as releases_api
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.pipelines.policy import may_read_project_pipelines
from ingot.projects.projects import api as projects_api
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Visit, text_field
from ingot.web.projects.context import project_context

pages = PageRoutes()


@pages.get("/:path/-/badges/:ref/pipeline.svg", open=True, slashes="ref")
def show_pipeline_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the newest pipeline of a branch or tag."""
    project_id, query = _project_id(visit), visit.request.query
    return _image(visit, pipeline_badge(db, project_id, visit.request.path["ref"], text_field(query, "key_text")))


@pages.get("/:path/-/badges/:ref/build.svg", open=True, slashes="ref")
def show_build_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the newest pipeline by the name that GitLab 9.4 has for it."""
    return show_pipeline_badge(visit, db)


@pages.get("/:path/-/badges/:ref/coverage.svg", open=True, slashes="ref")
def show_coverage_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the coverage of a branch or tag."""
    project_id, query = _project_id(visit), visit.request.query
    job, label = text_field(query, "job"), text_field(query, "key_text")
    return _image(visit, coverage_badge(db, project_id, visit.request.path["ref"], job, label))


@pages.get("/:path/-/badges/release.svg", open=True)
def show_release_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the latest release; without permission to read releases, it looks as if there were none."""
    context, query = project_context(visit), visit.request.query
    lookup = context.find(projects_api.get_project)
    project = lookup.project if context.may(releases_api.list_releases) else None
    return _image(visit, release_badge(db, project, text_field(query, "order_by"), text_field(query, "key_text")))


def _project_id(visit: Visit) -> int:
    """Return the project of a visitor who may read its pipelines; a hidden one looks like a missing one."""
    lookup = project_context(visit).find(projects_api.get_project)
    if not may_read_project_pipelines(visit.viewer.actor, lookup.access, lookup.project):
        raise NotFound("Project")
    return lookup.project.id


def _image(visit: Visit, badge: CiBadge) -> PageResponse:
    query = visit.request.query
    badge = with_widths(badge, text_field(query, "key_width"), text_field(query, "value_width"))
    headers = [(b"cache-control", b"no-cache, private"), (b"x-content-type-options", b"nosniff")]
    return BytesResponse(render_badge(badge), "image/svg+xml", headers)
