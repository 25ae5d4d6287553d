"""Tracking of when SSH keys were last used; written in the background, so that connections do not wait."""

from concurrent.futures import Executor
from time import monotonic

from ingot.accounts.keys.tables import ssh_keys
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.errors import Unavailable
from ingot.log import log_failure

WRITE_INTERVAL_SECONDS = 600.0
MAX_TRACKED_KEYS = 100_000


class KeyUsageTracker:
    """Tracker that limits how often the use of a key is written."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._noted_at: dict[int, float] = {}

    def note(self, key_id: int) -> None:
        """Record the use of a key; each key is written at most every ten minutes."""
        now = monotonic()
        if now - self._noted_at.get(key_id, float("-inf")) < WRITE_INTERVAL_SECONDS:
            return
        if len(self._noted_at) >= MAX_TRACKED_KEYS:
            self._noted_at.clear()
        self._noted_at[key_id] = now
        self._writer.submit(self._write, key_id)

    def _write(self, key_id: int) -> None:
        def work(db: Connection) -> None:
            db.update(ssh_keys, key_id, last_used_at=db.now)

        try:
            self._database.write(work)
        except Unavailable as error:  # The next use records it again.
            log_failure("use of a key not stored", error)
            self._noted_at.pop(key_id, None)
