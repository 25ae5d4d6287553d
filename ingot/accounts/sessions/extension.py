"""Extension of sessions that are used, where the instance ends them after inactivity; written in the background."""

from concurrent.futures import Executor
from threading import Lock

from sqlalchemy import bindparam, update

from ingot.accounts.sessions.tables import Session, sessions
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure

MAX_STEP_SECONDS = 600
_EXTEND = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"), sessions.c.expires_at < bindparam("until"))
    .values(expires_at=bindparam("until"))
)


class SessionExtender:
    """Writer of later ends of sessions, so that no request waits for it."""

    def __init__(self, database: Database, writer: Executor) -> None:
        self._database = database
        self._writer = writer
        self._lock = Lock()
        self._pending: set[int] = set()

    def extend(self, session: Session, minutes: int, now: Timestamp) -> None:
        """Let a session last for some minutes from now; only if that is a tenth of them, or ten minutes, more."""
        step = min(minutes * 6, MAX_STEP_SECONDS)
        until = add_duration(now, minutes=minutes)
        if add_duration(session.expires_at, seconds=step) > until:
            return
        with self._lock:
            if session.id in self._pending:
                return
            self._pending.add(session.id)
        try:
            self._writer.submit(self._write, session.id, until)
        except RuntimeError:
            # The process is shutting down; the next use extends the session.
            pass

    def _write(self, session_id: int, until: Timestamp) -> None:
        def work(db: Connection) -> None:
            db.run(_EXTEND, session=session_id, until=until)

        try:
            self._database.write(work)
        except Unavailable as error:  # The next use extends it.
            log_failure("session not extended", error)
        finally:
            with self._lock:
                self._pending.discard(session_id)
