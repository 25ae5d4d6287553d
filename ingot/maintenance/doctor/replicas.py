"""Checks of the standbys that serve reads."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from ingot.core.db.database import Database
from ingot.core.db.engines import DatabaseErrorKind, Engine
from ingot.core.db.log_positions import REPLAYED, LogPosition, Replayed, log_origin, log_position
from ingot.core.db.replicas import ReplicaEngine
from ingot.core.settings import Settings
from ingot.maintenance.doctor.findings import DoctorFinding

_READABLE = "SELECT (SELECT count(*) FROM (SELECT FROM row_changes LIMIT 1) AS changes), (SELECT count(*) FROM users)"


def check_replicas(settings: Settings, database: Database) -> Iterator[DoctorFinding]:
    """Check that each standby answers, follows the database and can be read."""
    if not settings.database_replicas:
        return
    with closing(database.engine.connect(read_only=True)) as primary:
        try:
            log_position(primary)
        except database.engine.errors as error:
            yield DoctorFinding(
                f"Replicas are not used: the primary does not tell its position ({_reason(database.engine, error)})"
            )
            return
        for url in settings.database_replicas:
            engine = ReplicaEngine(url)
            problem = _problem(engine, lambda: log_position(primary))
            if problem:
                yield DoctorFinding(f"The replica {engine.address} is not used: {problem}")


def _problem(engine: ReplicaEngine, position: Callable[[], LogPosition]) -> str:
    """Return what keeps a server from serving reads, or an empty string."""
    try:
        with closing(engine.connect(read_only=True)) as raw:
            return _difference(raw, position)
    except engine.errors as error:
        return _reason(engine, error)
    finally:
        engine.close()


def _difference(raw: Any, position: Callable[[], LogPosition]) -> str:
    found, wanted = log_origin(raw), position().origin
    replayed = Replayed(*raw.execute(REPLAYED).fetchone())
    if (found.system, found.database) != (wanted.system, wanted.database):
        return "it has another database"
    if not replayed.in_recovery:
        return "it is not a standby"
    if found.timeline != wanted.timeline:
        return "it follows another primary, or has not stored yet that it follows this one"
    if replayed.lsn > position().lsn:
        return "it is ahead of the primary, which was restored; create the standby again"
    raw.execute(_READABLE)
    return ""


def _reason(engine: Engine, error: Exception) -> str:
    """Return the first line of an error of the server or connection; that of a malformed URL quotes the password."""
    is_quotable = getattr(error, "sqlstate", None) or engine.classify_error(error) is DatabaseErrorKind.LOST
    text = str(error).strip() if is_quotable else ""
    return text.splitlines()[0] if text else type(error).__name__
