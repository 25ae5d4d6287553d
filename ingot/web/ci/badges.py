"""Badges of the status of pipelines and of the coverage, for pages of other sites."""

from ingot.ci.pipelines.badges import CiBadge, coverage_badge, pipeline_badge, render_badge
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.repositories.pipelines.policy import may_read_project_pipelines
from ingot.web.page_routes import BytesResponse, PageResponse, PageRoutes, Visit, text_field
from ingot.web.projects.context import project_context

pages = PageRoutes()


@pages.get("/:path/-/badges/:ref/pipeline.svg", open=True, slashes="ref")
def show_pipeline_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the newest pipeline of a branch or tag."""
    project_id, query = _project_id(visit), visit.request.query
    return _image(pipeline_badge(db, project_id, visit.request.path["ref"], text_field(query, "key_text")))


@pages.get("/:path/-/badges/:ref/build.svg", open=True, slashes="ref")
def show_build_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the newest pipeline by the name that GitLab 9.4 has for it."""
    return show_pipeline_badge(visit, db)


@pages.get("/:path/-/badges/:ref/coverage.svg", open=True, slashes="ref")
def show_coverage_badge(visit: Visit, db: Connection) -> PageResponse:
    """Return the badge of the coverage of a branch or tag."""
    project_id, query = _project_id(visit), visit.request.query
    job, label = text_field(query, "job"), text_field(query, "key_text")
    return _image(coverage_badge(db, project_id, visit.request.path["ref"], job, label))


def _project_id(visit: Visit) -> int:
    """Return the project of a visitor who may read its pipelines; a hidden one looks like a missing one."""
    lookup = project_context(visit).find(projects_api.get_project)
    if not may_read_project_pipelines(visit.viewer.actor, lookup.access, lookup.project):
        raise NotFound("Project")
    return lookup.project.id


def _image(badge: CiBadge) -> PageResponse:
    headers = [(b"cache-control", b"no-cache, private"), (b"x-content-type-options", b"nosniff")]
    return BytesResponse(render_badge(badge), "image/svg+xml", headers)
