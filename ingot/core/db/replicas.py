"""Standbys of PostgreSQL that serve reads as current as those of the primary.

Each read first asks the primary for the position of its log (LSN), which is one short statement. A standby that has
replayed the log up to there has everything that was committed before the read began, by any node. If none has, or if
one fails, the primary serves the read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from ingot.core.db import engines
from ingot.core.db.cache import ANY_COMMIT
from ingot.core.db.connection_pool import ConnectionPool, PooledConnection, close_connection
from ingot.core.db.engines import DatabaseErrorKind
from ingot.core.db.postgresql import PostgresqlEngine
from ingot.core.db.stalls import on_event_loop
from ingot.errors import Unavailable
from ingot.log import log_failure

T = TypeVar("T")
RETRY_SECONDS = 5.0
"""Time for which a standby that has failed is not asked."""
# Standbys get only what was flushed, which every acknowledged commit is, unless the server is told otherwise.
_POSITION = (
    "SELECT left(pg_walfile_name(position), 8), position::text FROM (SELECT CASE current_setting('synchronous_commit') "
    "WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END) AS log(position)"
)
_SYSTEM = "SELECT system_identifier::text FROM pg_control_system()"
_HAS_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
# A standby writes the timeline down when it stores what it has replayed, so this may be late, but never early.
_HISTORY = (
    "SELECT system_identifier::text, "
    "upper(lpad(to_hex(greatest(min_recovery_end_timeline, timeline_id)), 8, '0')), pg_is_in_recovery() "
    "FROM pg_control_system(), pg_control_recovery(), pg_control_checkpoint()"
)
# Snapshots of a standby do not list running transactions. Those that were not visible begin at the oldest one.
_OLDEST = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
_CHANGES = (
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text, ARRAY(SELECT subject FROM row_changes "
    "WHERE transaction_id >= %(seen)s::xid8 ORDER BY transaction_id DESC LIMIT %(limit)s)"
)
_ISOLATION = "SET default_transaction_isolation = 'read committed'"


class History(NamedTuple):
    """Origin of a log: positions of different histories cannot be compared."""

    system: str
    timeline: str


class LogPosition(NamedTuple):
    """State of the primary."""

    history: History
    lsn: str


class ReplicaEngine(PostgresqlEngine):
    """A standby."""

    def connect(self, *, read_only: bool, typed: bool = True) -> Any:
        connection = super().connect(read_only=read_only, typed=typed)
        if self.has_sessions:
            # Of two statements that are sent together, the second must see what the first has waited for.
            connection.execute(_ISOLATION, prepare=False)
        return connection

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
        self._retry_at = 0.0
        self._failing = False

    @property
    def available(self) -> bool:
        """Return whether nothing indicates that it would fail."""
        return self.engine.is_responsive and monotonic() >= self._retry_at

    def read(self, position: LogPosition, work: Callable[[PooledConnection], T]) -> tuple[str, T | None]:
        """Run ``work``, whose result is not None, if the standby has replayed the log up to a position."""
        try:
            reader = self._pool.take()
        except Unavailable as error:
            self._fail(error)
            return "unavailable", None
        try:
            reader.raw.mark_inline(on_event_loop())
            if not _has_caught_up(reader, position):
                return "behind", None
            result = work(reader)
        except self.engine.errors as error:
            self._handle(error, reader)
            return "unavailable", None
        finally:
            self._pool.give_back(reader)
        self._failing = False
        return "read", result

    def _handle(self, error: Exception, reader: PooledConnection) -> None:
        """Return if the primary should be asked instead."""
        kind = self.engine.classify_error(error)
        close_connection(reader)
        if kind is DatabaseErrorKind.BUSY:  # It took too long, and would again.
            raise Unavailable("The database is busy or does not answer") from error
        if kind is DatabaseErrorKind.LOST:
            self._pool.discard_idle()
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._retry_at = monotonic() + RETRY_SECONDS
        if not self._failing:
            log_failure("replica unavailable", error)
        self._failing = True

    def close(self) -> None:
        """Close all connections; none may be in use."""
        self._pool.close()
        self.engine.close()


class ReadReplicas:
    """Standbys that take turns."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._replicas = replicas
        self._turn = count()
        self._history: History | None = None
        self.outcomes: Counter[str] = Counter()
        """Number of reads that a standby has served, or that were left to the primary, by the reason."""

    @property
    def is_remote(self) -> bool:
        """Return whether a round trip to one takes so long that no event loop should wait for it."""
        return any(engine.is_remote for engine in self.engines)

    @property
    def engines(self) -> list[ReplicaEngine]:
        """Return the engines of the standbys."""
        return [replica.engine for replica in self._replicas]

    def position(self, raw: Any) -> LogPosition:
        """Return the state of the primary, which a connection to it reports."""
        timeline, lsn = raw.execute(_POSITION).fetchone()
        history = self._history
        if history is None or history.timeline != timeline:
            history = self._history = History(raw.execute(_SYSTEM).fetchone()[0], timeline)
        return LogPosition(history, lsn)

    def read(self, position: LogPosition, work: Callable[[PooledConnection], T]) -> T | None:
        """Run ``work`` on a standby that has replayed the log up to a position; return None if there is none."""
        first, number = next(self._turn), len(self._replicas)
        outcome, result = "unavailable", None
        for replica in (self._replicas[(first + index) % number] for index in range(number)):
            if replica.available:
                outcome, result = replica.read(position, work)
                if outcome == "read":
                    break
        self.outcomes[outcome] += 1
        return result

    def close(self) -> None:
        """Close all connections; none may be in use."""
        for replica in self._replicas:
            replica.close()


def open_replicas(urls: Sequence[str], statement_seconds: float | None = None) -> ReadReplicas | None:
    """Return the standbys with these URLs; they are connected to when they are first used."""
    return ReadReplicas([Replica(ReplicaEngine(url, statement_seconds)) for url in urls]) if urls else None


def _has_caught_up(reader: PooledConnection, position: LogPosition) -> bool:
    """Return whether a standby has everything up to a position; bring the cache of the connection up to date."""
    assert reader.cache is not None  # noqa: S101 - Connections that only read have one.
    seen = reader.position
    if seen == position:  # Nothing was written since, so the cache is valid too.
        return True
    if seen is None or seen.history != position.history:
        system, timeline, in_recovery = reader.raw.execute(_HISTORY).fetchone()
        if not in_recovery or History(system, timeline) != position.history:
            return False
    replayed: list[bool] = []
    reader.raw.execute_later(_HAS_REPLAYED, (position.lsn,), lambda result, _: replayed.extend(result.fetchone()))
    reader.cache.refresh()
    reader.raw.flush()
    if not replayed[0]:
        return False
    reader.position = position
    return True


def replica_problem(url: str, position: LogPosition) -> str:
    """Return what keeps a server from serving reads, or an empty string."""
    engine = ReplicaEngine(url)
    try:
        connection = engine.connect(read_only=True)
    except engine.errors as error:
        return f"does not answer: {error}"
    try:
        system, timeline, in_recovery = connection.execute(_HISTORY).fetchone()
        if system != position.history.system:
            return "is not a copy of the database"
        if not in_recovery:
            return "is not a standby"
        if timeline != position.history.timeline:
            return "follows another primary"
    except engine.errors as error:
        return f"cannot be read: {error}"
    finally:
        connection.close()
        engine.close()
    return ""
