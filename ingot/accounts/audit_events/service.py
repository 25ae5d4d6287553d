"""Recording of changed settings."""

from typing import Any, NamedTuple

import msgspec

from ingot.accounts.audit_events.tables import EntityType, audit_events
from ingot.core.api.routes import Call

_MAX_LENGTH = 1000
"""Length at which the recorded value of a long text is cut off."""


class Entity(NamedTuple):
    """Object whose settings were changed."""

    type: EntityType
    id: int
    path: str


def record_changes(call: Call, entity: Entity, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Record an event for each value that differs."""
    for name, value in after.items():
        if before[name] != value:
            call.db.insert(
                audit_events,
                author_id=call.actor.user_id,
                author_name=call.actor.name,
                entity_type=entity.type,
                entity_id=entity.id,
                entity_path=entity.path,
                attribute=name,
                old_value=_shown(before[name]),
                new_value=_shown(value),
                ip_address=call.origin.ip,
                created_at=call.db.now,
            )


def _shown(value: Any) -> str | None:
    """Return a text as it is, and other values as JSON."""
    if value is None:
        return None
    return (value if isinstance(value, str) else msgspec.json.encode(value).decode())[:_MAX_LENGTH]
