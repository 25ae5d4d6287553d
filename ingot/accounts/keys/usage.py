"""When SSH keys were last used: noted out of band, because nobody should wait for that."""

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
    """Remembers which keys are written down already."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._noted: dict[int, float] = {}

    def note(self, key_id: int) -> None:
        """A key was used; the same one is written at most every ten minutes."""
        now = monotonic()
        if now - self._noted.get(key_id, float("-inf")) < WRITE_INTERVAL_SECONDS:
            return
        if len(self._noted) >= MAX_TRACKED_KEYS:
            self._noted.clear()
        self._noted[key_id] = now
        self._writer.submit(self._write, key_id)

    def _write(self, key_id: int) -> None:
        def work(db: Connection) -> None:
            db.update(ssh_keys, key_id, last_used_at=db.now)

        try:
            self._database.write(work)
        except Unavailable as error:  # It is noted again at the next use.
            log_failure("use of a key not stored", error)
            self._noted.pop(key_id, None)
