"""Imports over the API; they begin with the project, see ``POST /projects``."""

from ingot.api.routes import Call, Routes
from ingot.projects import policy
from ingot.projects.api import found_in_path
from ingot.projects.imports.views import ImportView, import_view

routes = Routes("projects")


@routes.get("/projects/:id/import", on=found_in_path, may=policy.may_see_found, returns=ImportView)
def get_import(call: Call, found: policy.Found) -> ImportView:
    """Get how the import of a project goes."""
    return import_view(found.project, in_full=policy.may_admin_project(call.actor, found.here, found.project))
