"""Number of clones and fetches of projects, written in the background, so that fetches never write."""

import asyncio
from collections import Counter
from concurrent.futures import Executor

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Date, day_of
from ingot.core.errors import Conflict, Unavailable
from ingot.core.log import log_failure
from ingot.projects.statistics.service import add_fetches

FLUSH_DELAY_SECONDS = 2.0
_PACK_HEADER = b"PACK\0\0\0\2"
"""Start of a pack of version 2, the only one that git sends."""


class FetchCounter:
    """Collector of the fetches that a worker served, which writes them in batches."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._pending: Counter[tuple[int, Date]] = Counter()

    def note(self, project_id: int) -> None:
        """Count a fetch; for the event loop."""
        if not self._pending:
            asyncio.get_running_loop().call_later(FLUSH_DELAY_SECONDS, self._flush)
        self._pending[project_id, day_of(self._database.clock())] += 1

    def close(self) -> None:
        """Write what is counted, before the writer stops."""
        self._flush()

    def _flush(self) -> None:
        counts, self._pending = self._pending, Counter()
        if counts:
            self._writer.submit(self._write, counts)

    def _write(self, counts: Counter[tuple[int, Date]]) -> None:
        def work(db: Connection) -> None:
            add_fetches(db, counts)

        try:
            self._database.write(work)
        except (Unavailable, Conflict) as error:  # The database is not worth waiting for; the numbers are not exact.
            log_failure("fetches not counted", error)


class PackDetector:
    """Search for the start of a pack in the response to a fetch: only the last request of a fetch gets a pack."""

    def __init__(self) -> None:
        self.found = False
        self._end = b""

    def feed(self, chunk: bytes) -> None:
        """Look at the next part of the response, until a pack starts."""
        if self.found:
            return
        seen = self._end + chunk
        self.found = _PACK_HEADER in seen
        self._end = seen[1 - len(_PACK_HEADER) :]
