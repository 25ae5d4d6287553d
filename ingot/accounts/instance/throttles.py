"""Counters of attempts in fixed time windows, shared by all processes."""

from collections.abc import Callable

from sqlalchemy import bindparam, delete, select, update

from ingot.accounts.instance.tables import Throttle, throttles
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration, to_datetime
from ingot.core.errors import Throttled

_BY_KEY = select(throttles).where(throttles.c.key == bindparam("throttle"))
# Locks the row, so that concurrent attempts are both counted.
_FOR_UPDATE = _BY_KEY.with_for_update()
_DECREMENT = (
    update(throttles)
    .where(throttles.c.key == bindparam("throttle"), throttles.c.count > 0)
    .values(count=throttles.c.count - 1)
)
_WAIT_SECONDS = 60
_DELETE_EXPIRED = delete(throttles).where(throttles.c.ends_at <= bindparam("now"))


def attempts_in_window(db: Connection, key: str, window_seconds: int) -> Throttle | None:
    """Return the counter of ``key``, if its window has not ended."""
    throttle = db.first(Throttle, _BY_KEY, throttle=key)
    # A window that ends too late was written before the clock was set back; it counts as ended.
    is_current = throttle is not None and db.now < throttle.ends_at <= _latest_window_end(db, window_seconds)
    return throttle if is_current else None


def count_attempt(
    db: Connection, key: str, window_seconds: int, ahead: Callable[[Throttle], int] = lambda _: 0
) -> Throttle:
    """Count one attempt; the first one starts a window. ``ahead`` returns how many to count besides it."""
    throttle = db.first(Throttle, _FOR_UPDATE, throttle=key)
    if throttle is None:
        ends_at = add_duration(db.now, seconds=window_seconds)
        row_id = db.insert(throttles, key=key, ends_at=ends_at, count=1)
        return Throttle(row_id, key, ends_at, 1)
    # A clock that was set back must not extend a window.
    if throttle.ends_at <= db.now or throttle.ends_at > _latest_window_end(db, window_seconds):
        throttle = Throttle(throttle.id, key, add_duration(db.now, seconds=window_seconds), 0)
    counted = Throttle(throttle.id, key, throttle.ends_at, throttle.count + 1 + ahead(throttle))
    db.update(throttles, counted.id, ends_at=counted.ends_at, count=counted.count)
    return counted


def count_within_limit(db: Connection, key: str, limit: int, window_seconds: int) -> None:
    """Count one attempt; raise Throttled if it exceeds the limit.

    Counting locks the row, so that concurrent attempts cannot exceed the limit together. An attempt that raises is
    rolled back with its transaction.
    """
    counted = count_attempt(db, key, window_seconds)
    if counted.count > limit:
        raise Throttled(seconds_left(db, counted))


def _latest_window_end(db: Connection, window_seconds: int) -> Timestamp:
    """Return the latest possible end of a window.

    A transaction that waited for the row may have an older ``now`` than the one that created it.
    """
    return add_duration(db.now, seconds=window_seconds + _WAIT_SECONDS)


def uncount_attempt(db: Connection, key: str) -> None:
    """Take back one attempt that turned out not to count."""
    db.run(_DECREMENT, throttle=key)


def seconds_left(db: Connection, throttle: Throttle) -> int:
    """Return the remaining seconds of the window, at least one."""
    return max(1, round((to_datetime(throttle.ends_at) - to_datetime(db.now)).total_seconds()))


def delete_expired_throttles(db: Connection) -> int:
    """Delete the counters whose windows have ended."""
    return db.run_counted(_DELETE_EXPIRED, now=db.now)
