"""Custom attributes of projects and groups over the API; they are administrators' own."""

from ingot.access.rules import administrators, require
from ingot.api.routes import Call, Routes
from ingot.custom_attributes import queries, service
from ingot.custom_attributes.params import SetAttribute
from ingot.custom_attributes.tables import CustomAttribute
from ingot.db.paging import Listing, Page
from ingot.groups.api import group_in_path
from ingot.projects.api import project_in_path
from ingot.projects.places import Place, source_of
from ingot.projects.tables import Project
from ingot.users.accounts.views import CustomAttributeView

routes = Routes("custom_attributes")


def _view(attribute: CustomAttribute) -> CustomAttributeView:
    return CustomAttributeView(attribute.key, attribute.value)


def _require_in_use(place: Place) -> None:
    """What is archived keeps what it has."""
    require(not (isinstance(place, Project) and place.archived))


@routes.get("/groups/:id/custom_attributes", on=group_in_path, may=administrators, returns=list[CustomAttributeView])
@routes.get(
    "/projects/:id/custom_attributes", on=project_in_path, may=administrators, returns=list[CustomAttributeView]
)
def list_attributes(call: Call, place: Place, page: Page) -> Listing[CustomAttributeView]:
    """List the custom attributes of a project or group."""
    found = queries.list_attributes(call.db, source_of(place), page)
    return found.of([_view(attribute) for attribute in found.items])


@routes.get("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
@routes.get("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def get_attribute(call: Call, place: Place) -> CustomAttributeView:
    """Get a custom attribute of a project or group."""
    return _view(queries.find_attribute(call.db, source_of(place), call.path["key"]))


@routes.put("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
@routes.put("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def set_attribute(call: Call, place: Place, params: SetAttribute) -> CustomAttributeView:
    """Set a custom attribute of a project or group."""
    _require_in_use(place)
    return _view(service.set_attribute(call.db, source_of(place), call.path["key"], params.value))


@routes.delete("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=None)
@routes.delete("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=None)
def delete_attribute(call: Call, place: Place) -> None:
    """Delete a custom attribute of a project or group."""
    _require_in_use(place)
    attribute = queries.attribute_or_none(call.db, source_of(place), call.path["key"])
    if attribute is not None:
        service.delete_attribute(call.db, attribute)
