"""Imports over the API; they begin with the project, see ``POST /projects``."""

from ingot.api.routes import Call, Routes
from ingot.projects import policy
from ingot.projects.api import project_in_path
from ingot.projects.imports.views import ImportView, import_view
from ingot.projects.tables import Project

routes = Routes("projects")


@routes.get("/projects/:id/import", on=project_in_path, may=policy.may_see_project, returns=ImportView)
def get_import(call: Call, project: Project) -> ImportView:  # noqa: ARG001 - Every handler gets its call.
    """Get how the import of a project goes."""
    return import_view(project)
