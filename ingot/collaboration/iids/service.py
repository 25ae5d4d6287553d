"""Giving numbers."""

from typing import Literal

from sqlalchemy import text

from ingot.collaboration.iids.tables import internal_ids
from ingot.core.db.connection import Connection

# One statement: the row stays locked to the end of the transaction, so two at once get different numbers.
_NEXT = text(
    f"INSERT INTO {internal_ids.name} (scope, scope_id, kind, last) VALUES (:scope, :scope_id, :kind, 1) "  # noqa: S608 - A name of our own.
    f"ON CONFLICT (scope, scope_id, kind) DO UPDATE SET last = {internal_ids.name}.last + 1 RETURNING last"
)


def next_iid(db: Connection, scope: Literal["project", "group"], scope_id: int, kind: str) -> int:
    """The next number of a kind within a project or group; one that is deleted leaves a gap."""
    given: int = db.value(_NEXT, scope=scope, scope_id=scope_id, kind=kind)
    return given
