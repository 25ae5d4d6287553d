"""Endpoints of the audit events of groups and projects."""

from ingot.accounts.audit_events.params import FilterAuditEvents
from ingot.accounts.audit_events.queries import find_audit_event, list_audit_events
from ingot.accounts.audit_events.tables import EntityType
from ingot.accounts.audit_events.views import AuditEventView, audit_event_view
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.tables import Project

routes = Routes("audit_events")


@routes.get("/groups/:id/audit_events", on=group_in_path, may=may_admin_group, returns=list[AuditEventView])
@routes.get("/projects/:id/audit_events", on=project_in_path, may=may_admin_project, returns=list[AuditEventView])
def list_changes_of_settings(
    call: Call, owner: Project | Namespace, params: FilterAuditEvents, page: Page
) -> Listing[AuditEventView]:
    """List the changes of the settings of a group or project, newest first."""
    listing = list_audit_events(call.db, params, page, entity_type=_entity_type(owner), entity_id=owner.id)
    return listing.of([audit_event_view(event) for event in listing.items])


@routes.get("/groups/:id/audit_events/:event_id", on=group_in_path, may=may_admin_group, returns=AuditEventView)
@routes.get("/projects/:id/audit_events/:event_id", on=project_in_path, may=may_admin_project, returns=AuditEventView)
def get_change_of_setting(call: Call, owner: Project | Namespace) -> AuditEventView:
    """Get a change of a setting of a group or project."""
    number = path_number(call.path, "event_id")
    return audit_event_view(find_audit_event(call.db, number, entity_type=_entity_type(owner), entity_id=owner.id))


def _entity_type(owner: Project | Namespace) -> EntityType:
    return "Project" if isinstance(owner, Project) else "Group"
