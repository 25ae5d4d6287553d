"""Reads of nodes."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.nodes.tables import NodeRole, nodes

_ALL = select(nodes).order_by(nodes.c.name, nodes.c.role)


class Node(NamedTuple):
    """A machine that serves the instance."""

    name: str
    roles: Sequence[str]
    address: str
    version: str
    clock_offset: float
    """Seconds by which its clock is ahead of the database server's."""
    started_at: Timestamp
    last_seen_at: Timestamp
    online: bool
    idle_seconds: float
    """Seconds since it was last seen."""


def list_nodes(db: Connection) -> list[Node]:
    """Return all nodes by name; roles that it no longer reports are left out while it reports others."""
    return [_node(db, list(roles)) for _, roles in groupby(db.all(NodeRole, _ALL), attrgetter("name"))]


def _node(db: Connection, roles: list[NodeRole]) -> Node:
    current = [role for role in roles if role.expires_at > db.now]
    shown = current or roles
    newest = max(shown, key=attrgetter("last_seen_at"))
    return Node(
        newest.name,
        [role.role for role in shown],
        next((role.address for role in reversed(shown) if role.address), ""),
        newest.version,
        newest.clock_offset_ms / 1000,
        min(role.started_at for role in shown),
        newest.last_seen_at,
        bool(current),
        max(0.0, (to_datetime(db.now) - to_datetime(newest.last_seen_at)).total_seconds()),
    )
