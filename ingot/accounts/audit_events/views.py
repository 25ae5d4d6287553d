"""Response structs of audit events."""

import msgspec

from ingot.accounts.audit_events.tables import AuditEvent
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class ChangeView(View, kw_only=True):
    """Changed setting with its former and its new value."""

    change: str
    from_: str | None = msgspec.field(name="from")
    to: str | None
    author_name: str
    target_id: int
    target_type: str
    target_details: str
    ip_address: str
    entity_path: str


class AuditEventView(View):
    """An audit event."""

    id: int
    author_id: int
    entity_id: int
    entity_type: str
    event_name: str
    details: ChangeView
    created_at: Timestamp


def audit_event_view(event: AuditEvent) -> AuditEventView:
    """Return the view of an event."""
    change = ChangeView(
        change=event.attribute,
        from_=event.old_value,
        to=event.new_value,
        author_name=event.author_name,
        target_id=event.entity_id,
        target_type=event.entity_type,
        target_details=event.entity_path,
        ip_address=event.ip_address,
        entity_path=event.entity_path,
    )
    return AuditEventView(
        id=event.id,
        author_id=event.author_id,
        entity_id=event.entity_id,
        entity_type=event.entity_type,
        event_name=f"{event.attribute}_updated",
        details=change,
        created_at=event.created_at,
    )
