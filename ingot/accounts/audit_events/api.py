"""Endpoints of the audit events of the instance."""

from ingot.accounts.audit_events.params import ListAuditEvents
from ingot.accounts.audit_events.queries import find_audit_event, list_audit_events
from ingot.accounts.audit_events.views import AuditEventView, audit_event_view
from ingot.core.access.rules import administrators
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid

routes = Routes("audit_events")


@routes.get("/audit_events", may=administrators, returns=list[AuditEventView])
def list_instance_audit_events(call: Call, params: ListAuditEvents, page: Page) -> Listing[AuditEventView]:
    """List the changes of settings of the instance and all groups and projects, newest first."""
    if params.entity_id is not None and params.entity_type is None:
        raise Invalid(entity_type=["is missing"])
    entity = {"entity_type": params.entity_type, "entity_id": params.entity_id}
    listing = list_audit_events(call.db, params, page, **entity)
    return listing.of([audit_event_view(event) for event in listing.items])


@routes.get("/audit_events/:event_id", may=administrators, returns=AuditEventView)
def get_instance_audit_event(call: Call) -> AuditEventView:
    """Get a change of a setting."""
    return audit_event_view(find_audit_event(call.db, path_number(call.path, "event_id")))
