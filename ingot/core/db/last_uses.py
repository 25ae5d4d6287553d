"""Tracking of when rows were last used; written in the background, so that no caller waits for it."""

from concurrent.futures import Executor
from threading import Lock
from time import monotonic
from typing import Any

from sqlalchemy import Column, bindparam, update

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure

WRITE_INTERVAL_SECONDS = 600.0
MAX_TRACKED_ROWS = 100_000


class LastUseTracker:
    """Collector of the rows of one table that a process used, which writes the time to a column in batches."""

    def __init__(self, database: Database, writer: Executor, column: "Column[Any]") -> None:
        self._database = database
        self._writer = writer
        self._name = str(column)
        self._statement = (
            update(column.table).where(in_list(column.table.c.id, "rows")).values({column: bindparam("used_at")})
        )
        self._lock = Lock()
        self._noted_at: dict[int, float] = {}
        self._pending: set[int] = set()

    def note(self, row_id: int) -> None:
        """Record the use of a row, from any thread; each row is written at most every ten minutes."""
        now = monotonic()
        with self._lock:
            if now - self._noted_at.get(row_id, float("-inf")) < WRITE_INTERVAL_SECONDS:
                return
            if len(self._noted_at) >= MAX_TRACKED_ROWS:
                self._noted_at.clear()
            self._noted_at[row_id] = now
            self._pending.add(row_id)
            if len(self._pending) > 1:  # The write that was submitted for the first one includes it.
                return
        try:
            self._writer.submit(self._write)
        except RuntimeError:
            # The process is shutting down; the time of last use is not worth delaying it.
            pass

    def _write(self) -> None:
        with self._lock:
            rows, self._pending = sorted(self._pending), set()

        def work(db: Connection) -> None:
            db.run(self._statement, rows=rows, used_at=db.now)

        try:
            self._database.write(work)
        except Unavailable as error:  # The next use records it again.
            log_failure(f"{self._name} not stored", error)
            with self._lock:
                for row_id in rows:
                    self._noted_at.pop(row_id, None)
