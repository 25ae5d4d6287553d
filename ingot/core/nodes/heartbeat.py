"""Reports of a process that its node serves some roles, written by a thread of its own."""

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Conflict, Unavailable
from ingot.core.log import Log
from ingot.core.nodes.tables import NodeRole, nodes
from ingot.core.settings import Settings
from ingot.core.version import product_version

SERVER_SECONDS = 15.0
EMBEDDED_SECONDS = 600.0
"""Time between two reports. An embedded database has one node, so that reports are only for display."""
_MISSED_REPORTS = 3
FORGET_DAYS = 7
_ALL_ADDRESSES = ("0.0.0.0", "::", "")  # noqa: S104 - Compared only.
MAX_CLOCK_OFFSET_SECONDS = 5.0
_OF_NODE = select(nodes).where(nodes.c.name == bindparam("node"), in_list(nodes.c.role, "roles"))
_DELETE = delete(nodes).where(nodes.c.name == bindparam("node"), in_list(nodes.c.role, "roles"))
_DELETE_OLD = delete(nodes).where(nodes.c.last_seen_at < bindparam("cutoff"))


class Heartbeat:
    """Context in which a thread reports the roles of a process; at its end they are no longer served."""

    def __init__(self, settings: Settings, database: Database, roles: Sequence[str], log: Log) -> None:
        self._settings = settings
        self._database = database
        self._roles = list(roles)
        self._log = log
        self._version = product_version()
        self._seconds = EMBEDDED_SECONDS if database.embedded else SERVER_SECONDS
        self._started_at: Timestamp | None = None
        self._stopped = threading.Event()
        self._has_warned = False
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def beat(self) -> None:
        """Report the roles once."""
        offset = self._database.engine.clock_offset()
        if abs(offset) <= MAX_CLOCK_OFFSET_SECONDS:
            self._has_warned = False
        elif not self._has_warned:
            self._has_warned = True
            self._log("clock differs from the database server's", seconds=round(offset, 1))
        self._database.write(lambda db: self._write(db, round(offset * 1000)))

    def _run(self) -> None:
        while True:
            try:
                self.beat()
            except (Unavailable, Conflict) as error:  # The next report follows soon; readiness reports the database.
                self._log("heartbeat not written", error=str(error))
            if self._stopped.wait(self._seconds):
                break
        with suppress(Unavailable, Conflict):  # It expires by itself.
            self._database.write(lambda db: db.run(_DELETE, node=self._settings.node, roles=self._roles))

    def _address(self) -> str:
        """Return the address of the web server; the name of the machine instead of all its addresses."""
        host = self._settings.host
        return f"{os.uname().nodename if host in _ALL_ADDRESSES else host}:{self._settings.port}"

    def _write(self, db: Connection, clock_offset_ms: int) -> None:
        self._started_at = self._started_at or db.now
        stored = db.all(NodeRole, _OF_NODE, node=self._settings.node, roles=self._roles)
        existing = {each.role: each.id for each in stored}
        for role in self._roles:
            values = {
                "address": self._address() if role in ("pages", "web") else "",
                "version": self._version,
                "clock_offset_ms": clock_offset_ms,
                "started_at": self._started_at,
                "last_seen_at": db.now,
                "expires_at": add_duration(db.now, seconds=self._seconds * _MISSED_REPORTS),
            }
            if role in existing:
                db.update(nodes, existing[role], **values)
            else:
                db.insert(nodes, name=self._settings.node, role=role, **values)
        db.run(_DELETE_OLD, cutoff=add_duration(db.now, days=-FORGET_DAYS))
