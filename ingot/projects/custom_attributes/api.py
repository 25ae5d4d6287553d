"""Endpoints of custom attributes of projects and groups, for administrators only."""

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


def _require_not_archived(owner: ProjectOrGroup) -> None:
    """Raise Denied for archived projects, which must not change."""
    require(not (isinstance(owner, Project) and owner.archived))


@routes.get("/groups/:id/custom_attributes", on=group_in_path, may=administrators, returns=list[CustomAttributeView])
@routes.get(
    "/projects/:id/custom_attributes", on=project_in_path, may=administrators, returns=list[CustomAttributeView]
)
def list_attributes(call: Call, owner: ProjectOrGroup, page: Page) -> Listing[CustomAttributeView]:
    """List the custom attributes of a project or group."""
    listing = queries.list_attributes(call.db, member_source(owner), page)
    return listing.of([_attribute_view(attribute) for attribute in listing.items])


@routes.get("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
@routes.get("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def get_attribute(call: Call, owner: ProjectOrGroup) -> CustomAttributeView:
    """Get a custom attribute of a project or group."""
    return _attribute_view(queries.find_attribute(call.db, member_source(owner), call.path["key"]))


@routes.put("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=CustomAttributeView)
@routes.put("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=CustomAttributeView)
def set_attribute(call: Call, owner: ProjectOrGroup, params: SetAttribute) -> CustomAttributeView:
    """Set a custom attribute of a project or group."""
    _require_not_archived(owner)
    return _attribute_view(service.set_attribute(call.db, member_source(owner), call.path["key"], params.value))


@routes.delete("/groups/:id/custom_attributes/:key", on=group_in_path, may=administrators, returns=None)
@routes.delete("/projects/:id/custom_attributes/:key", on=project_in_path, may=administrators, returns=None)
def delete_attribute(call: Call, owner: ProjectOrGroup) -> None:
    """Delete a custom attribute of a project or group."""
    _require_not_archived(owner)
    attribute = queries.attribute_or_none(call.db, member_source(owner), call.path["key"])
    if attribute is not None:
        service.delete_attribute(call.db, attribute)
