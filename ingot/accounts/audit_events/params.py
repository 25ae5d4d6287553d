"""Request parameters of audit events."""

from typing import Literal

from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp


class FilterAuditEvents(Params):
    """Period of a list of audit events."""

    created_after: Timestamp | None = None
    created_before: Timestamp | None = None


class ListAuditEvents(FilterAuditEvents):
    """Filters of the events of the whole instance; an id needs a type."""

    entity_type: Literal["User", "Group", "Project", "Gitlab::Audit::InstanceScope"] | None = None
    entity_id: int | None = None
