"""Giving numbers."""

from typing import Literal

from sqlalchemy import text

from ingot.db.connection import Connection

# One statement: the row stays locked to the end of the transaction, so two at once get different numbers.
_NEXT = text(
    "INSERT INTO internal_ids (scope, scope_id, kind, last) VALUES (:scope, :scope_id, :kind, 1) "
    "ON CONFLICT (scope, scope_id, kind) DO UPDATE SET last = internal_ids.last + 1 RETURNING last"
)


def next_iid(db: Connection, scope: Literal["project", "group"], scope_id: int, kind: str) -> int:
    """The next number of a kind within a project or group; one that is deleted leaves a gap."""
    given: int = db.value(_NEXT, scope=scope, scope_id=scope_id, kind=kind)
    return given
