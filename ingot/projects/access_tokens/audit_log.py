"""Log of the writing calls of tokens; written in the background, so that no request waits for it."""

import asyncio
from concurrent.futures import Executor
from functools import partial
from threading import Lock, Timer
from typing import NamedTuple

from ingot.core.api.call_log import WritingCall
from ingot.core.db.database import Database
from ingot.core.db.stalls import on_event_loop
from ingot.core.db.times import Timestamp
from ingot.core.errors import Conflict, Unavailable
from ingot.core.log import log_failure

FLUSH_DELAY_SECONDS = 2.0
MAX_PENDING_CALLS = 10_000
"""Calls that wait to be written; more come only while the database does not answer, and are dropped."""
_BATCH = 500
"""Calls in one transaction, so that requests do not wait long for the writer."""
_KINDS = frozenset({"personal", "oauth"})


class LoggedCall(NamedTuple):
    """A call with its time."""

    call: WritingCall
    at: Timestamp


class TokenAuditLog:
    """Collector of the writing calls that a worker answered, which writes them in batches."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._lock = Lock()
        self._pending: list[LoggedCall] = []
        self._scheduled = False

    def note(self, call: WritingCall) -> None:
        """Record a call, if it was made with a token that is listed for its owner."""
        if call.actor.via not in _KINDS or not call.actor.token_id:
            return
        with self._lock:
            if len(self._pending) < MAX_PENDING_CALLS:
                self._pending.append(LoggedCall(call, self._database.clock()))
            if self._scheduled:
                return
            self._scheduled = True
        if on_event_loop():
            asyncio.get_running_loop().call_later(FLUSH_DELAY_SECONDS, self._submit)
            return
        timer = Timer(FLUSH_DELAY_SECONDS, self._submit)  # Tools and mutations run in threads, which have no loop.
        timer.daemon = True
        timer.start()

    def write_pending(self) -> None:
        """Write what is recorded."""
        # Loaded with the first call of a token: a server that starts does not need the tables of projects.
        from ingot.projects.access_tokens.audit_rows import insert_calls

        while calls := self._take():
            try:
                self._database.write(partial(insert_calls, calls=calls))
            except (Unavailable, Conflict) as error:
                log_failure("calls of tokens not recorded", error, calls=len(calls))

    def close(self) -> None:
        """Write what is recorded, before the writer stops."""
        self._submit()

    def _take(self) -> list[LoggedCall]:
        with self._lock:
            calls, self._pending = self._pending[:_BATCH], self._pending[_BATCH:]
            self._scheduled = False
        return calls

    def _submit(self) -> None:
        try:
            self._writer.submit(self.write_pending)
        except RuntimeError:
            # The worker has shut down, after ``close`` has written what was recorded until then.
            pass
