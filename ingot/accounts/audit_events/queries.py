"""Queries of audit events."""

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, select

from ingot.accounts.audit_events.params import FilterAuditEvents
from ingot.accounts.audit_events.tables import AuditEvent, audit_events
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_FILTERS = {
    "id": audit_events.c.id == bindparam("id"),
    "entity_type": audit_events.c.entity_type == bindparam("entity_type"),
    "entity_id": audit_events.c.entity_id == bindparam("entity_id"),
    "created_after": audit_events.c.created_at >= bindparam("created_after"),
    "created_before": audit_events.c.created_at <= bindparam("created_before"),
}


@lru_cache(maxsize=32)
def _list_query(filters: frozenset[str]) -> ListQuery:
    matching = select(audit_events).where(*(_FILTERS[name] for name in sorted(filters)))
    return list_query(matching, audit_events.c.id, audit_events.c.id.desc())


def list_audit_events(
    db: Connection, params: FilterAuditEvents, page: Page, **entity: str | int | None
) -> Listing[AuditEvent]:
    """List events, newest first; ``entity_type`` and ``entity_id`` limit them to an object."""
    period = {"created_after": params.created_after, "created_before": params.created_before}
    values: dict[str, Any] = {name: value for name, value in (period | entity).items() if value is not None}
    return fetch_page(db, AuditEvent, _list_query(frozenset(values)), page, **values)


def find_audit_event(db: Connection, number: int, **entity: str | int) -> AuditEvent:
    """Return an event, of an object if one is given; raise ``NotFound``."""
    values = {"id": number, **entity}
    query = select(audit_events).where(*(_FILTERS[name] for name in sorted(values)))
    event = db.first(AuditEvent, query, **values)
    if event is None:
        raise NotFound("Audit Event")
    return event
