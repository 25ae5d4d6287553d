"""Endpoint of the import status; ``POST /projects`` starts an import."""

from ingot.core.api.routes import Call, Routes
from ingot.projects.imports.views import ImportView, import_view
from ingot.projects.projects import policy
from ingot.projects.projects.api import project_lookup_in_path

routes = Routes("projects")


@routes.get("/projects/:id/import", on=project_lookup_in_path, may=policy.may_see_project_lookup, returns=ImportView)
def get_import(call: Call, lookup: policy.ProjectLookup) -> ImportView:
    """Get the status of a project's import."""
    return import_view(lookup.project, in_full=policy.may_admin_project(call.actor, lookup.access, lookup.project))
