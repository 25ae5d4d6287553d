"""When tokens were last used: noted out of band, because a read must never need a write."""

import asyncio
from concurrent.futures import Executor
from time import monotonic

from sqlalchemy import bindparam, update

from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.expressions import any_of
from ingot.errors import Unavailable
from ingot.users.tokens.tables import access_tokens

WRITE_AFTER_SECONDS = 2.0
AGAIN_AFTER_SECONDS = 600.0
MOST_REMEMBERED = 100_000
_USED = update(access_tokens).where(any_of(access_tokens.c.id, "tokens")).values(last_used_at=bindparam("used_at"))


class TokenUsage:
    """Gathers the tokens that a worker saw, and writes them down together now and then."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._noted: dict[int, float] = {}
        self._pending: set[int] = set()

    def note(self, token_id: int) -> None:
        """A token was used; the same one is written at most every ten minutes."""
        now = monotonic()
        if token_id == 0 or now - self._noted.get(token_id, float("-inf")) < AGAIN_AFTER_SECONDS:
            return
        if len(self._noted) >= MOST_REMEMBERED:
            self._noted.clear()
        self._noted[token_id] = now
        if not self._pending:
            asyncio.get_running_loop().call_later(WRITE_AFTER_SECONDS, self._hand_over)
        self._pending.add(token_id)

    def _hand_over(self) -> None:
        tokens, self._pending = list(self._pending), set()
        try:
            self._writer.submit(self._write, tokens)
        except RuntimeError:
            # The worker is ending; when a token was last used is not worth holding that up.
            pass

    def _write(self, tokens: list[int]) -> None:
        def work(db: Connection) -> None:
            db.run(_USED, tokens=tokens, used_at=db.now)

        try:
            self._database.write(work)
        except Unavailable:
            # It is noted again at the next use.
            for token_id in tokens:
                self._noted.pop(token_id, None)
