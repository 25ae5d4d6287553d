"""Choice of the source and target project of a merge request."""

from typing import Any

import msgspec

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.core.access.levels import Level
from ingot.core.errors import NotFound
from ingot.projects.forks import api as forks_api
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.views import ProjectView, SimpleProjectView
from ingot.web.merge_requests.fields import form_values
from ingot.web.page_routes import Visit
from ingot.web.projects.context import ProjectContext, project_context

_MAX_FORKS = 20


class MergeRequestProjects(msgspec.Struct, frozen=True):
    """Source and target project, and the projects that can be chosen."""

    parent: ProjectContext
    """Project of the page."""
    source: ProjectContext
    target: ProjectContext
    sources: list[SimpleProjectView]
    targets: list[SimpleProjectView]
    may_create: bool
    """True if the user may create merge requests from the source project."""


def merge_request_projects(visit: Visit, typed: dict[str, Any] | None = None) -> MergeRequestProjects:
    """Return the projects that the form or query names; the default target is the upstream project."""
    parent, typed = project_context(visit), typed or form_values(visit.request.query)
    if not parent.may(merge_requests_api.list_project_merge_requests) and not parent.may(
        merge_requests_api.create_merge_request
    ):
        raise NotFound("Project")
    sources = _sources(parent)
    source = _context_among(parent, sources, typed["source_project_id"]) or _first_source(parent, sources)
    targets = _targets(source, parent)
    target = _context_among(parent, targets, typed["target_project_id"])
    if target is None:
        # A target branch without a project belongs to the project of the page.
        target = (
            parent if typed["target_branch"] or source.project.id != parent.project.id else _upstream(parent, targets)
        )
    return MergeRequestProjects(
        parent, source, target, sources, targets, source.may(merge_requests_api.create_merge_request)
    )


def _sources(parent: ProjectContext) -> list[SimpleProjectView]:
    """Return the project and its forks in which the user is at least a developer."""
    params = {"min_access_level": int(Level.DEVELOPER), "per_page": _MAX_FORKS, "simple": "true"}
    forks = parent.visit.ask(forks_api.list_forks, params, id=parent.project.id).items
    own = [parent.project] if parent.may(merge_requests_api.create_merge_request) or not forks else []
    return [*own, *forks]


def _targets(source: ProjectContext, parent: ProjectContext) -> list[SimpleProjectView]:
    """Return the source project, its upstream and the project of the page, if they accept merge requests."""
    project = source.project
    upstream = project.forked_from_project
    projects: list[SimpleProjectView] = [project]
    if isinstance(upstream, SimpleProjectView):
        projects.append(upstream)
    if parent.project.id not in {project.id for project in projects}:
        projects.append(parent.project)
    return [
        project
        for project in projects
        if parent.visit.may(merge_requests_api.list_project_merge_requests, id=project.id)
    ]


def _context_among(parent: ProjectContext, options: list[SimpleProjectView], number: str) -> ProjectContext | None:
    if not number or number not in {str(project.id) for project in options}:
        return None
    return parent if number == str(parent.project.id) else ProjectContext(parent.visit, _project(parent.visit, number))


def _first_source(parent: ProjectContext, sources: list[SimpleProjectView]) -> ProjectContext:
    return _context_among(parent, sources, str(sources[0].id)) or parent


def _upstream(parent: ProjectContext, targets: list[SimpleProjectView]) -> ProjectContext:
    """Return the upstream project, unless it accepts no merge requests or the project prefers itself."""
    prefers_itself = parent.project.mr_default_target_self  # type: ignore[attr-defined]  # Declared as an option.
    other = next((project for project in targets if project.id != parent.project.id and not prefers_itself), None)
    return parent if other is None else ProjectContext(parent.visit, _project(parent.visit, str(other.id)))


def _project(visit: Visit, number: str) -> ProjectView:
    project: ProjectView = visit.ask(projects_api.get_project, id=number)
    return project
