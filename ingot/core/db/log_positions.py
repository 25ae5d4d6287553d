"""Positions in the log of a PostgreSQL server, by which a standby can tell whether it has everything up to a moment."""

from typing import Any, NamedTuple

# Standbys get only what was flushed, which every acknowledged commit is, unless the server is told otherwise.
_POSITION = (
    "SELECT system_identifier::text, (SELECT oid FROM pg_database WHERE datname = current_database())::bigint, "
    "left(pg_walfile_name(position), 8), extract(epoch FROM pg_postmaster_start_time())::text, "
    "(position - '0/0')::bigint "
    "FROM pg_control_system(), (SELECT CASE current_setting('synchronous_commit') "
    "WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END) AS log(position)"
)
# A standby writes the timeline down when it stores what it has replayed, so this may be late, but never early.
_ORIGIN = (
    "SELECT system_identifier::text, (SELECT oid FROM pg_database WHERE datname = current_database())::bigint, "
    "upper(lpad(to_hex(greatest(min_recovery_end_timeline, timeline_id)), 8, '0')) "
    "FROM pg_control_system(), pg_control_recovery(), pg_control_checkpoint()"
)
REPLAYED = "SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0')::bigint"
"""Whether a server is a standby, and what it has replayed (see ``Replayed``)."""


class LogOrigin(NamedTuple):
    """Database whose changes a log contains: positions of different origins cannot be compared."""

    system: str
    database: int
    timeline: str


class LogPosition(NamedTuple):
    """State of a primary."""

    origin: LogOrigin
    started: str
    """When the server was started: it may have been restored from a backup before that."""
    lsn: int

    def is_comparable(self, earlier: "LogPosition | None") -> bool:
        """Return whether a standby that followed an earlier position still follows this one."""
        return earlier is not None and earlier[:2] == self[:2]


class Replayed(NamedTuple):
    """State of a standby."""

    in_recovery: bool
    lsn: int


def log_position(raw: Any) -> LogPosition:
    """Return the state of a primary."""
    system, database, timeline, started, lsn = raw.execute(_POSITION).fetchone()
    return LogPosition(LogOrigin(system, database, timeline), started, lsn)


def log_origin(raw: Any) -> LogOrigin:
    """Return the database that a standby follows."""
    return LogOrigin(*raw.execute(_ORIGIN).fetchone())
