"""Allocation of iids."""

from typing import Literal

from sqlalchemy import text

from ingot.collaboration.iids.tables import internal_ids
from ingot.core.db.connection import Connection

# One statement: the row stays locked until the transaction ends, so concurrent callers get different numbers.
_NEXT = text(
    f"INSERT INTO {internal_ids.name} (scope, scope_id, kind, last) VALUES (:scope, :scope_id, :kind, 1) "  # noqa: S608 - The table name is a constant.
    f"ON CONFLICT (scope, scope_id, kind) DO UPDATE SET last = {internal_ids.name}.last + 1 RETURNING last"
)
# No row is changed if the number was reached already.
_RAISE = text(
    f"INSERT INTO {internal_ids.name} (scope, scope_id, kind, last) VALUES (:scope, :scope_id, :kind, :least) "  # noqa: S608 - The table name is a constant.
    f"ON CONFLICT (scope, scope_id, kind) DO UPDATE SET last = excluded.last "
    f"WHERE excluded.last > {internal_ids.name}.last"
)


def next_iid(db: Connection, scope: Literal["project", "group"], scope_id: int, kind: str) -> int:
    """Allocate and return the next number of a kind within a project or group; deleted records leave gaps."""
    iid: int = db.value(_NEXT, scope=scope, scope_id=scope_id, kind=kind)
    return iid


def raise_last_iid(db: Connection, scope: Literal["project", "group"], scope_id: int, kind: str, least: int) -> None:
    """Make sure that the next numbers are above ``least``, which an import has used."""
    db.run(_RAISE, scope=scope, scope_id=scope_id, kind=kind, least=least)
