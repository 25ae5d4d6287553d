"""Variables over the API: of projects, of groups and of the instance."""

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
from ingot.variables.queries import INSTANCE, Place, place_of_group, place_of_project
from ingot.variables.views import VariableView, variable_view, variable_views

routes = Routes("variables")


def _list(call: Call, place: Place, page: Page) -> Listing[VariableView]:
    found = queries.list_variables(call.db, place, page)
    return found.of(variable_views(call.db, found.items))


def _get(call: Call, place: Place, params: FindVariable) -> VariableView:
    return variable_view(call.db, queries.find_variable(call.db, place, call.path["key"], params.filter))


def _edit(call: Call, place: Place, params: EditVariable) -> VariableView:
    variable = queries.find_variable(call.db, place, call.path["key"], params.filter)
    return variable_view(call.db, service.edit_variable(call.db, place, variable, params))


def _delete(call: Call, place: Place, params: FindVariable) -> None:
    variable = queries.variable_or_none(call.db, place, call.path["key"], params.filter)
    if variable is not None:
        service.delete_variable(call.db, variable)


@routes.get("/projects/:id/variables", on=project_in_path, may=policy.may_read_variables, returns=list[VariableView])
def list_project_variables(call: Call, project: Project, page: Page) -> Listing[VariableView]:
    """List the variables of a project."""
    return _list(call, place_of_project(project), page)


@routes.get("/projects/:id/variables/:key", on=project_in_path, may=policy.may_read_variables, returns=VariableView)
def get_project_variable(call: Call, project: Project, params: FindVariable) -> VariableView:
    """Get a variable of a project."""
    return _get(call, place_of_project(project), params)


@routes.post("/projects/:id/variables", on=project_in_path, may=policy.may_change_variables, returns=VariableView)
def create_project_variable(call: Call, project: Project, params: CreateVariable) -> VariableView:
    """Create a variable of a project."""
    return variable_view(call.db, service.create_variable(call.db, place_of_project(project), params))


@routes.put("/projects/:id/variables/:key", on=project_in_path, may=policy.may_change_variables, returns=VariableView)
def edit_project_variable(call: Call, project: Project, params: EditVariable) -> VariableView:
    """Edit a variable of a project."""
    return _edit(call, place_of_project(project), params)


@routes.delete("/projects/:id/variables/:key", on=project_in_path, may=policy.may_change_variables, returns=None)
def delete_project_variable(call: Call, project: Project, params: FindVariable) -> None:
    """Delete a variable of a project."""
    _delete(call, place_of_project(project), params)


@routes.get("/groups/:id/variables", on=group_in_path, may=may_admin_group, returns=list[VariableView])
def list_group_variables(call: Call, group: Namespace, page: Page) -> Listing[VariableView]:
    """List the variables of a group."""
    return _list(call, place_of_group(group), page)


@routes.get("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=VariableView)
def get_group_variable(call: Call, group: Namespace, params: FindVariable) -> VariableView:
    """Get a variable of a group."""
    return _get(call, place_of_group(group), params)


@routes.post("/groups/:id/variables", on=group_in_path, may=may_admin_group, returns=VariableView)
def create_group_variable(call: Call, group: Namespace, params: CreateVariable) -> VariableView:
    """Create a variable of a group."""
    return variable_view(call.db, service.create_variable(call.db, place_of_group(group), params))


@routes.put("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=VariableView)
def edit_group_variable(call: Call, group: Namespace, params: EditVariable) -> VariableView:
    """Edit a variable of a group."""
    return _edit(call, place_of_group(group), params)


@routes.delete("/groups/:id/variables/:key", on=group_in_path, may=may_admin_group, returns=None)
def delete_group_variable(call: Call, group: Namespace, params: FindVariable) -> None:
    """Delete a variable of a group."""
    _delete(call, place_of_group(group), params)


@routes.get("/admin/ci/variables", may=administrators, returns=list[VariableView])
def list_instance_variables(call: Call, page: Page) -> Listing[VariableView]:
    """List the variables of the instance."""
    return _list(call, INSTANCE, page)


@routes.get("/admin/ci/variables/:key", may=administrators, returns=VariableView)
def get_instance_variable(call: Call, params: FindVariable) -> VariableView:
    """Get a variable of the instance."""
    return _get(call, INSTANCE, params)


@routes.post("/admin/ci/variables", may=administrators, returns=VariableView)
def create_instance_variable(call: Call, params: CreateVariable) -> VariableView:
    """Create a variable of the instance."""
    return variable_view(call.db, service.create_variable(call.db, INSTANCE, params))


@routes.put("/admin/ci/variables/:key", may=administrators, returns=VariableView)
def edit_instance_variable(call: Call, params: EditVariable) -> VariableView:
    """Edit a variable of the instance."""
    return _edit(call, INSTANCE, params)


@routes.delete("/admin/ci/variables/:key", may=administrators, returns=None)
def delete_instance_variable(call: Call, params: FindVariable) -> None:
    """Delete a variable of the instance."""
    _delete(call, INSTANCE, params)
