"""Tracking of when tokens were last used; written in the background, so that reads never write."""

import asyncio
from concurrent.futures import Executor
from time import monotonic

from sqlalchemy import bindparam, update

from ingot.accounts.tokens.tables import access_tokens
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list
from ingot.core.db.stalls import on_event_loop
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure

FLUSH_DELAY_SECONDS = 2.0
WRITE_INTERVAL_SECONDS = 600.0
MAX_TRACKED_TOKENS = 100_000
_UPDATE_LAST_USED = (
    update(access_tokens).where(in_list(access_tokens.c.id, "tokens")).values(last_used_at=bindparam("used_at"))
)


class TokenUsageTracker:
    """Collector of the tokens used in a worker, which writes them in batches."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._noted_at: dict[int, float] = {}
        self._pending: set[int] = set()

    def note(self, token_id: int) -> None:
        """Record the use of a token; each token is written at most every ten minutes."""
        now = monotonic()
        if token_id == 0 or now - self._noted_at.get(token_id, float("-inf")) < WRITE_INTERVAL_SECONDS:
            return
        if len(self._noted_at) >= MAX_TRACKED_TOKENS:
            self._noted_at.clear()
        self._noted_at[token_id] = now
        if not on_event_loop():  # Reads of a remote database run in threads, which have no timer.
            self._submit([token_id])
            return
        if not self._pending:
            asyncio.get_running_loop().call_later(FLUSH_DELAY_SECONDS, self._flush)
        self._pending.add(token_id)

    def _flush(self) -> None:
        tokens, self._pending = list(self._pending), set()
        self._submit(tokens)

    def _submit(self, tokens: list[int]) -> None:
        try:
            self._writer.submit(self._write, tokens)
        except RuntimeError:
            # The worker is shutting down; the time of last use is not worth delaying it.
            pass

    def _write(self, tokens: list[int]) -> None:
        def work(db: Connection) -> None:
            db.run(_UPDATE_LAST_USED, tokens=tokens, used_at=db.now)

        try:
            self._database.write(work)
        except Unavailable as error:  # The next use records it again.
            log_failure("use of tokens not stored", error)
            for token_id in tokens:
                self._noted_at.pop(token_id, None)
