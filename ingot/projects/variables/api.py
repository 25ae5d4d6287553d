"""Endpoints of CI variables."""

from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import administrators
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project
from ingot.projects.variables import policy, queries, service
from ingot.projects.variables.params import CreateVariable, EditVariable, FindVariable
from ingot.projects.variables.queries import variable_owner
from ingot.projects.variables.views import VariableView, variable_view, variable_views

routes = Routes("variables")
Owner = Project | Namespace | None
"""Project or group that has the variables; None for the instance."""


def _instance(_call: Call) -> tuple[Access, None]:
    return NO_ACCESS, None


@routes.get("/admin/ci/variables", on=_instance, may=administrators, returns=list[VariableView])
@routes.get("/groups/:id/variables", on=group_in_path, may=may_admin_group, returns=list[VariableView])
@routes.get("/projects/:id/variables", on=project_in_path, may=policy.may_read_variables, returns=list[VariableView])
def list_variables(call: Call, owner: Owner, page: Page) -> Listing[VariableView]:
    """List the variables of a project, a group or the instance."""
    listing = queries.list_variables(call.db, variable_owner(owner), page)
    return listing.of(variable_views(call.db, listing.items))


@routes.get("/admin/ci/variables/:key", on=_instance, may=administrators, returns=VariableView)
@routes.get("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=VariableView)
@routes.get("/projects/:id/variables/:key", on=project_in_path, may=policy.may_read_variables, returns=VariableView)
def get_variable(call: Call, owner: Owner, params: FindVariable) -> VariableView:
    """Get a variable of a project, a group or the instance."""
    return variable_view(
        call.db, queries.find_variable(call.db, variable_owner(owner), call.path["key"], params.filter)
    )


@routes.post("/admin/ci/variables", on=_instance, may=administrators, returns=VariableView)
@routes.post("/groups/:id/variables", on=group_in_path, may=may_admin_group, returns=VariableView)
@routes.post("/projects/:id/variables", on=project_in_path, may=policy.may_change_variables, returns=VariableView)
def create_variable(call: Call, owner: Owner, params: CreateVariable) -> VariableView:
    """Create a variable of a project, a group or the instance."""
    return variable_view(call.db, service.create_variable(call.db, variable_owner(owner), params))


@routes.put("/admin/ci/variables/:key", on=_instance, may=administrators, returns=VariableView)
@routes.put("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=VariableView)
@routes.put("/projects/:id/variables/:key", on=project_in_path, may=policy.may_change_variables, returns=VariableView)
def edit_variable(call: Call, owner: Owner, params: EditVariable) -> VariableView:
    """Edit a variable of a project, a group or the instance."""
    variables_of = variable_owner(owner)
    variable = queries.find_variable(call.db, variables_of, call.path["key"], params.filter)
    return variable_view(call.db, service.edit_variable(call.db, variables_of, variable, params))


@routes.delete("/admin/ci/variables/:key", on=_instance, may=administrators, returns=None)
@routes.delete("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=None)
@routes.delete("/projects/:id/variables/:key", on=project_in_path, may=policy.may_change_variables, returns=None)
def delete_variable(call: Call, owner: Owner, params: FindVariable) -> None:
    """Delete a variable of a project, a group or the instance."""
    variable = queries.variable_or_none(call.db, variable_owner(owner), call.path["key"], params.filter)
    if variable is not None:
        service.delete_variable(call.db, variable)
