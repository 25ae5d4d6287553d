"""Endpoints of the sites of projects."""

from ingot.core.api.routes import Call, Routes
from ingot.core.errors import Invalid, NotFound
from ingot.projects.projects.setting_records import record_project_values
from ingot.projects.projects.tables import Project
from ingot.sites.deployments import policy
from ingot.sites.deployments.finders import project_with_pages
from ingot.sites.deployments.service import delete_all_deployments
from ingot.sites.project_pages import service
from ingot.sites.project_pages.params import EditPages
from ingot.sites.project_pages.views import ProjectPagesView, pages_view

routes = Routes("pages")


@routes.get("/projects/:id/pages", on=project_with_pages, may=policy.may_read_pages, returns=ProjectPagesView)
def get_pages(call: Call, project: Project) -> ProjectPagesView:
    """Get the settings and active deployments of the site of a project."""
    if project.options.pages_access_level == "disabled":
        raise NotFound(message="404 Not Found")
    return pages_view(call.db, call.settings, project)


@routes.patch("/projects/:id/pages", on=project_with_pages, may=policy.may_change_pages, returns=ProjectPagesView)
def edit_pages(call: Call, project: Project, params: EditPages) -> ProjectPagesView:
    """Change the settings of the site of a project."""
    if project.options.pages_access_level == "disabled":
        raise NotFound(message="404 Not Found")
    if params.pages_unique_domain_enabled is True and call.settings.sites_in_path:
        raise Invalid(pages_unique_domain_enabled=["is not available: the sites of this server have no subdomains"])
    before = service.setting_values(call.db, project)
    service.edit_pages(call.db, project, params)
    record_project_values(call, project, before, service.setting_values(call.db, project))
    return pages_view(call.db, call.settings, project)


@routes.delete("/projects/:id/pages", on=project_with_pages, may=policy.may_change_pages, returns=None, status=204)
def delete_pages(call: Call, project: Project) -> None:
    """Take the site of a project off, with all deployments."""
    delete_all_deployments(call.db, project.id)


@routes.get("/projects/:id/pages_access", on=project_with_pages, may=policy.may_access_pages, returns=None, open=True)
def check_pages_access(call: Call, project: Project) -> None:
    """Check whether the caller may see the site of a project."""
