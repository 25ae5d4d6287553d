"""Counting tries in fixed windows of time, across all processes."""

from sqlalchemy import bindparam, delete, select, update

from ingot.accounts.instance.tables import Throttle, throttles
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration, to_datetime
from ingot.errors import Throttled

_BY_KEY = select(throttles).where(throttles.c.key == bindparam("throttle"))
# Two tries at once must both be counted: the second waits for the first.
_FOR_UPDATE = _BY_KEY.with_for_update()
_DECREMENT = (
    update(throttles)
    .where(throttles.c.key == bindparam("throttle"), throttles.c.count > 0)
    .values(count=throttles.c.count - 1)
)
_WAIT_SECONDS = 60
_DELETE_EXPIRED = delete(throttles).where(throttles.c.ends_at <= bindparam("now"))


def attempts_in_window(db: Connection, key: str, window_seconds: int) -> Throttle | None:
    """How often ``key`` was counted in the window that runs, if one does."""
    throttle = db.first(Throttle, _BY_KEY, throttle=key)
    # A window that ends later than any could is from before the clock was set back, and over.
    runs = throttle is not None and db.now < throttle.ends_at <= _latest_window_end(db, window_seconds)
    return throttle if runs else None


def require_within_limit(db: Connection, key: str, limit: int, window_seconds: int) -> None:
    """Stop a caller who has used up the window."""
    throttle = attempts_in_window(db, key, window_seconds)
    if throttle is not None and throttle.count >= limit:
        raise Throttled(seconds_left(db, throttle))


def count_attempt(db: Connection, key: str, window_seconds: int) -> Throttle:
    """Count one; the first begins a window."""
    held = db.first(Throttle, _FOR_UPDATE, throttle=key)
    if held is None:
        ends_at = add_duration(db.now, seconds=window_seconds)
        row_id = db.insert(throttles, key=key, ends_at=ends_at, count=1)
        return Throttle(row_id, key, ends_at, 1)
    # A clock that was set back must not stretch a window.
    if held.ends_at <= db.now or held.ends_at > _latest_window_end(db, window_seconds):
        held = Throttle(held.id, key, add_duration(db.now, seconds=window_seconds), 0)
    counted = Throttle(held.id, key, held.ends_at, held.count + 1)
    db.update(throttles, counted.id, ends_at=counted.ends_at, count=counted.count)
    return counted


def _latest_window_end(db: Connection, window_seconds: int) -> Timestamp:
    """When a window can end at the latest: whoever waited for the row may have begun before the one who made it."""
    return add_duration(db.now, seconds=window_seconds + _WAIT_SECONDS)


def uncount_attempt(db: Connection, key: str) -> None:
    """Take one back that turned out not to count."""
    db.run(_DECREMENT, throttle=key)


def seconds_left(db: Connection, throttle: Throttle) -> int:
    """How long the window still runs; at least a second."""
    return max(1, round((to_datetime(throttle.ends_at) - to_datetime(db.now)).total_seconds()))


def delete_expired_throttles(db: Connection) -> int:
    """Forget windows that are over."""
    return db.run(_DELETE_EXPIRED, now=db.now)
