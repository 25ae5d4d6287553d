"""Custom attributes of projects and groups over the API; they are administrators' own."""

from ingot.accounts.users.views import CustomAttributeView
from ingot.core.access.rules import administrators, require
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.custom_attributes import queries, service
from ingot.projects.custom_attributes.params import SetAttribute
from ingot.projects.custom_attributes.tables import ResourceCustomAttribute
from ingot.projects.groups.api import group_in_path
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.parents import ProjectOrGroup, member_source
from ingot.projects.projects.tables import Project

routes = Routes("custom_attributes")


def _attribute_view(attribute: ResourceCustomAttribute) -> CustomAttributeView:
    return CustomAttributeView(attribute.key, attribute.value)


def _require_not_archived(place: ProjectOrGroup) -> None:
    """What is archived keeps what it has."""
    require(not (isinstance(place, Project) and place.archived))


@routes.get("/groups/:id/custom_attributes", on=group_in_path, may=administrators, returns=list[CustomAttributeView])
@routes.get(
    "/projects/:id/custom_attributes", on=project_in_path, may=administrators, returns=list[CustomAttributeView]
)
def list_attributes(call: Call, place: ProjectOrGroup, page: Page) -> Listing[CustomAttributeView]:
    """List the custom attributes of a project or group."""
    found = queries.list_attributes(call.db, member_source(place), page)
    return found.of([_attribute_view(attribute) for attribute in found.items])


@routes.get("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
@routes.get("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def get_attribute(call: Call, place: ProjectOrGroup) -> CustomAttributeView:
    """Get a custom attribute of a project or group."""
    return _attribute_view(queries.find_attribute(call.db, member_source(place), call.path["key"]))


@routes.put("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
@routes.put("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def set_attribute(call: Call, place: ProjectOrGroup, params: SetAttribute) -> CustomAttributeView:
    """Set a custom attribute of a project or group."""
    _require_not_archived(place)
    return _attribute_view(service.set_attribute(call.db, member_source(place), call.path["key"], params.value))


@routes.delete("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=None)
@routes.delete("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=None)
def delete_attribute(call: Call, place: ProjectOrGroup) -> None:
    """Delete a custom attribute of a project or group."""
    _require_not_archived(place)
    attribute = queries.attribute_or_none(call.db, member_source(place), call.path["key"])
    if attribute is not None:
        service.delete_attribute(call.db, attribute)
