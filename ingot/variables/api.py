"""Variables over the API: of projects, of groups and of the instance."""

from ingot.access.levels import NO_ACCESS, Access
from ingot.access.rules import administrators
from ingot.api.routes import Call, Routes
from ingot.db.paging import Listing, Page
from ingot.groups.api import group_in_path
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.policy import may_admin_group
from ingot.projects.api import project_in_path
from ingot.projects.tables import Project
from ingot.variables import policy, queries, service
from ingot.variables.params import CreateVariable, EditVariable, FindVariable
from ingot.variables.queries import place_of
from ingot.variables.views import VariableView, variable_view, variable_views

routes = Routes("variables")
Owner = Project | Namespace | None
"""Whose variables they are; where it is nobody, the instance's."""


def _instance(_call: Call) -> tuple[Access, None]:
    return NO_ACCESS, None


@routes.get("/admin/ci/variables", on=_instance, may=administrators, returns=list[VariableView])
@routes.get("/groups/:id/variables", on=group_in_path, may=may_admin_group, returns=list[VariableView])
@routes.get("/projects/:id/variables", on=project_in_path, may=policy.may_read_variables, returns=list[VariableView])
def list_variables(call: Call, owner: Owner, page: Page) -> Listing[VariableView]:
    """List the variables of a project, a group or the instance."""
    found = queries.list_variables(call.db, place_of(owner), page)
    return found.of(variable_views(call.db, found.items))


@routes.get("/admin/ci/variables/:key", on=_instance, may=administrators, returns=VariableView)
@routes.get("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=VariableView)
@routes.get("/projects/:id/variables/:key", on=project_in_path, may=policy.may_read_variables, returns=VariableView)
def get_variable(call: Call, owner: Owner, params: FindVariable) -> VariableView:
    """Get a variable of a project, a group or the instance."""
    return variable_view(call.db, queries.find_variable(call.db, place_of(owner), call.path["key"], params.filter))


@routes.post("/admin/ci/variables", on=_instance, may=administrators, returns=VariableView)
@routes.post("/groups/:id/variables", on=group_in_path, may=may_admin_group, returns=VariableView)
@routes.post("/projects/:id/variables", on=project_in_path, may=policy.may_change_variables, returns=VariableView)
def create_variable(call: Call, owner: Owner, params: CreateVariable) -> VariableView:
    """Create a variable of a project, a group or the instance."""
    return variable_view(call.db, service.create_variable(call.db, place_of(owner), params))


@routes.put("/admin/ci/variables/:key", on=_instance, may=administrators, returns=VariableView)
@routes.put("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=VariableView)
@routes.put("/projects/:id/variables/:key", on=project_in_path, may=policy.may_change_variables, returns=VariableView)
def edit_variable(call: Call, owner: Owner, params: EditVariable) -> VariableView:
    """Edit a variable of a project, a group or the instance."""
    place = place_of(owner)
    variable = queries.find_variable(call.db, place, call.path["key"], params.filter)
    return variable_view(call.db, service.edit_variable(call.db, place, variable, params))


@routes.delete("/admin/ci/variables/:key", on=_instance, may=administrators, returns=None)
@routes.delete("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=None)
@routes.delete("/projects/:id/variables/:key", on=project_in_path, may=policy.may_change_variables, returns=None)
def delete_variable(call: Call, owner: Owner, params: FindVariable) -> None:
    """Delete a variable of a project, a group or the instance."""
    variable = queries.variable_or_none(call.db, place_of(owner), call.path["key"], params.filter)
    if variable is not None:
        service.delete_variable(call.db, variable)
