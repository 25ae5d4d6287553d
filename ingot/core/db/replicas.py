"""Standbys of PostgreSQL that serve reads as current as those of the primary.

Each read first asks the primary for the position of its log, which is one short statement. A standby that has replayed
the log up to there has everything that was committed before the read began, by any node. If none has, or if one fails,
the primary serves the read.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import count
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from ingot.core.db import engines
from ingot.core.db.cache import ANY_COMMIT
from ingot.core.db.connection_pool import CaughtUp, ConnectionPool, PooledConnection, close_connection
from ingot.core.db.engines import DatabaseErrorKind
from ingot.core.db.log_positions import REPLAYED, LogPosition, Replayed, log_origin
from ingot.core.db.postgresql import PostgresqlEngine
from ingot.core.db.stalls import on_event_loop
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed

T = TypeVar("T")
MAX_STATEMENT_SECONDS = 2.0
"""Limit of a statement on a standby; the primary can answer instead."""
RETRY_SECONDS = 5.0
"""Pause after a failure, which doubles with each further one."""
_MAX_RETRY_SECONDS = 60.0
_BEHIND_SECONDS = 0.001
"""Pause after a standby was behind, which doubles with each further time."""
_MAX_BEHIND_SECONDS = 1.0
_MAX_DOUBLINGS = 16
_UNCHECKED_SECONDS = 0.1
"""Time for which a standby of an unchanged primary is not checked: it may be promoted."""
# Snapshots of a standby do not list running transactions. Those that were not visible begin at the oldest one.
_OLDEST = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
_CHANGES = (
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text, ARRAY(SELECT subject FROM row_changes "
    "WHERE transaction_id >= %(seen)s::xid8 ORDER BY transaction_id DESC LIMIT %(limit)s)"
)


class ReplicaOutcome(StrEnum):
    """Outcome of a read: a standby has served it, or was left out."""

    READ = "read"
    BEHIND = "behind"
    FOREIGN = "foreign"
    """It is no standby, or that of another database."""
    UNAVAILABLE = "unavailable"


class ReplicaEngine(PostgresqlEngine):
    """A standby."""

    # Of two statements that are sent together, the second must see what the first has found.
    session_options = "; SET default_transaction_isolation = 'read committed'"
    max_statement_seconds = MAX_STATEMENT_SECONDS
    server_kind = "replica"

    @property
    def address(self) -> str:
        """Return host, port and name of the database."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2] or ",".join(parse_qs(parts.query).get("host", []))
        return host + parts.path

    def changes_since(self, raw: Any, position: str | None) -> tuple[str, Iterable[str] | None]:
        if position is None:
            return raw.execute(_OLDEST).fetchone()[0], None
        oldest, subjects = raw.execute(_CHANGES, {"seen": position, "limit": engines.MAX_CHANGES}).fetchone()
        return oldest, None if len(subjects) == engines.MAX_CHANGES else [ANY_COMMIT, *subjects]


class Replica:
    """Connections to a standby."""

    def __init__(self, engine: ReplicaEngine) -> None:
        self.engine = engine
        self._pool = ConnectionPool(engine, read_only=True)
        self._opening = threading.Lock()
        self._retry_at = 0.0
        self._reason = ReplicaOutcome.UNAVAILABLE
        """Why it is not asked until then."""
        self._failures = 0
        self._times_behind = 0

    @property
    def skipped(self) -> ReplicaOutcome | None:
        """Return why it is not asked at the moment; None if it is."""
        if not self.engine.is_responsive:
            return ReplicaOutcome.UNAVAILABLE
        return self._reason if monotonic() < self._retry_at else None

    def read(self, position: LogPosition, work: Callable[[PooledConnection], T]) -> tuple[ReplicaOutcome, T | None]:
        """Run ``work``, whose result is not None, if the standby has replayed the log up to a position."""
        reader = self._take()
        if reader is None:
            return ReplicaOutcome.UNAVAILABLE, None
        try:
            reader.raw.mark_inline(on_event_loop())
            outcome = self._catch_up(reader, position)
            result = work(reader) if outcome is ReplicaOutcome.READ else None
        except self.engine.errors as error:
            close_connection(reader)
            self._handle(error)
            return ReplicaOutcome.UNAVAILABLE, None
        finally:
            self._pool.give_back(reader)
        if outcome is ReplicaOutcome.READ:
            self._failures = self._times_behind = 0
        elif outcome is ReplicaOutcome.BEHIND:
            self._times_behind += 1
            self._pause(outcome, _BEHIND_SECONDS, _MAX_BEHIND_SECONDS, self._times_behind)
        else:
            self.leave_out(Unavailable("It is not a standby of the database"), outcome)
        return outcome, result

    def _take(self) -> PooledConnection | None:
        """Return a connection; an event loop does not wait for a new one, and gets None."""
        reader = self._pool.take_idle()
        if reader is not None:
            return reader
        if on_event_loop():
            threading.Thread(target=self._open, name="replica", daemon=True).start()
            return None
        self._open()
        return self._pool.take_idle()

    def _open(self) -> None:
        if not self._opening.acquire(blocking=False):
            return
        try:
            self._pool.add()
        except Unavailable as error:
            self.leave_out(error)
        finally:
            self._opening.release()

    def _catch_up(self, reader: PooledConnection, position: LogPosition) -> ReplicaOutcome:
        """Return whether the standby has everything up to a position; bring the cache of the connection up to date."""
        assert reader.cache is not None  # noqa: S101 - Connections that only read have one.
        last = reader.caught_up
        if last is not None and last.position == position and monotonic() < last.checked_at + _UNCHECKED_SECONDS:
            return ReplicaOutcome.READ  # Nothing was written since, so the cache is valid too.
        is_known = last is not None and position.is_comparable(last.position)
        if not is_known and log_origin(reader.raw) != position.origin:
            return ReplicaOutcome.FOREIGN
        found: list[Replayed] = []
        reader.raw.execute_later(REPLAYED, None, lambda result, _: found.append(Replayed(*result.fetchone())))
        if not self.engine.has_sessions:  # Otherwise the options of the session make the second statement see more.
            reader.raw.flush()
        reader.cache.refresh()
        reader.raw.flush()
        if not found[0].in_recovery:
            return ReplicaOutcome.FOREIGN
        # A standby that is ahead at first may have followed what the primary lost when it was restored.
        if found[0].lsn < position.lsn or (not is_known and found[0].lsn > position.lsn):
            return ReplicaOutcome.BEHIND
        reader.caught_up = CaughtUp(position, monotonic())
        return ReplicaOutcome.READ

    def _handle(self, error: Exception) -> None:
        kind = self.engine.classify_error(error)
        if kind is DatabaseErrorKind.CLASH:  # Replay had to change what the read was using.
            return
        if kind is DatabaseErrorKind.LOST:
            self._pool.discard_idle()
        self.leave_out(error)
        if on_event_loop():  # It may have waited long enough already.
            require_blocking_allowed()

    def leave_out(self, error: Exception, reason: ReplicaOutcome = ReplicaOutcome.UNAVAILABLE) -> None:
        """Do not ask the standby for some time after an error."""
        self._failures += 1
        self._pause(reason, RETRY_SECONDS, _MAX_RETRY_SECONDS, self._failures)
        if self._failures == 1:
            log_failure("replica not used", error, server=self.engine.address, reason=str(reason))

    def _pause(self, reason: ReplicaOutcome, seconds: float, max_seconds: float, times: int) -> None:
        self._reason = reason
        self._retry_at = monotonic() + min(seconds * 2 ** min(times - 1, _MAX_DOUBLINGS), max_seconds)

    def close(self) -> None:
        """Close all connections; none may be in use."""
        self._pool.close()
        self.engine.close()


class ReadReplicas:
    """Standbys that take turns."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._replicas = replicas
        self._turn = count()
        self.outcomes: Counter[str] = Counter()
        """Number of reads by ``ReplicaOutcome``."""

    @property
    def engines(self) -> list[ReplicaEngine]:
        """Return the engines of the standbys."""
        return [replica.engine for replica in self._replicas]

    @property
    def is_remote(self) -> bool:
        """Return whether a round trip to one takes so long that no event loop should wait for it."""
        return any(engine.is_remote for engine in self.engines)

    def may_serve(self) -> bool:
        """Return whether a standby can be asked; otherwise count the read as left to the primary."""
        reasons = [replica.skipped for replica in self._replicas]
        if None in reasons:
            return True
        self.outcomes[str(reasons[0])] += 1
        return False

    def leave_out_all(self, error: Exception) -> None:
        """Ask no standby for some time, because the primary does not tell its position."""
        for replica in self._replicas:
            replica.leave_out(error)

    def read(self, position: LogPosition, work: Callable[[PooledConnection], T]) -> T | None:
        """Run ``work`` on a standby that has replayed the log up to a position; return None if there is none."""
        first, number = next(self._turn), len(self._replicas)
        outcome, result = ReplicaOutcome.UNAVAILABLE, None
        for replica in (self._replicas[(first + index) % number] for index in range(number)):
            if replica.skipped is None:
                outcome, result = replica.read(position, work)
                if outcome is ReplicaOutcome.READ:
                    break
        self.outcomes[str(outcome)] += 1
        return result

    def close(self) -> None:
        """Close all connections; none may be in use."""
        for replica in self._replicas:
            replica.close()


def open_replicas(urls: Sequence[str], statement_seconds: float | None = None) -> ReadReplicas | None:
    """Return the standbys with these URLs; they are connected to when they are first used."""
    return ReadReplicas([Replica(ReplicaEngine(url, statement_seconds)) for url in urls]) if urls else None
