"""Custom attributes of projects and groups over the API; they are administrators' own."""

from ingot.access.rules import administrators, require
from ingot.api.routes import Call, Routes
from ingot.custom_attributes import queries, service
from ingot.custom_attributes.params import SetAttribute
from ingot.custom_attributes.tables import CustomAttribute
from ingot.db.connection import Connection
from ingot.db.paging import Listing, Page
from ingot.groups.api import group_in_path
from ingot.groups.members.queries import Source
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.queries import source_of as source_of_group
from ingot.projects.api import project_in_path
from ingot.projects.queries import source_of as source_of_project
from ingot.projects.tables import Project
from ingot.users.accounts.views import CustomAttributeView

routes = Routes("custom_attributes")


def _view(attribute: CustomAttribute) -> CustomAttributeView:
    return CustomAttributeView(attribute.key, attribute.value)


def _list(db: Connection, source: Source, page: Page) -> Listing[CustomAttributeView]:
    found = queries.list_attributes(db, source, page)
    return found.of([_view(attribute) for attribute in found.items])


def _delete(db: Connection, source: Source, key: str) -> None:
    attribute = queries.attribute_or_none(db, source, key)
    if attribute is not None:
        service.delete_attribute(db, attribute)


@routes.get(
    "/projects/:id/custom_attributes", on=project_in_path, may=administrators, returns=list[CustomAttributeView]
)
def list_project_attributes(call: Call, project: Project, page: Page) -> Listing[CustomAttributeView]:
    """List the custom attributes of a project."""
    return _list(call.db, source_of_project(project), page)


@routes.get("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def get_project_attribute(call: Call, project: Project) -> CustomAttributeView:
    """Get a custom attribute of a project."""
    return _view(queries.find_attribute(call.db, source_of_project(project), call.path["key"]))


@routes.put("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def set_project_attribute(call: Call, project: Project, params: SetAttribute) -> CustomAttributeView:
    """Set a custom attribute of a project."""
    require(not project.archived)
    return _view(service.set_attribute(call.db, source_of_project(project), call.path["key"], params.value))


@routes.delete("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=None)
def delete_project_attribute(call: Call, project: Project) -> None:
    """Delete a custom attribute of a project."""
    require(not project.archived)
    _delete(call.db, source_of_project(project), call.path["key"])


@routes.get("/groups/:id/custom_attributes", on=group_in_path, may=administrators, returns=list[CustomAttributeView])
def list_group_attributes(call: Call, group: Namespace, page: Page) -> Listing[CustomAttributeView]:
    """List the custom attributes of a group."""
    return _list(call.db, source_of_group(group), page)


@routes.get("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
def get_group_attribute(call: Call, group: Namespace) -> CustomAttributeView:
    """Get a custom attribute of a group."""
    return _view(queries.find_attribute(call.db, source_of_group(group), call.path["key"]))


@routes.put("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
def set_group_attribute(call: Call, group: Namespace, params: SetAttribute) -> CustomAttributeView:
    """Set a custom attribute of a group."""
    return _view(service.set_attribute(call.db, source_of_group(group), call.path["key"], params.value))


@routes.delete("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=None)
def delete_group_attribute(call: Call, group: Namespace) -> None:
    """Delete a custom attribute of a group."""
    _delete(call.db, source_of_group(group), call.path["key"])
