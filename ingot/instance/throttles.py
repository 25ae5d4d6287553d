"""Counting tries in fixed windows of time, across all processes."""

from sqlalchemy import bindparam, delete, select, update

from ingot.db.connection import Connection
from ingot.db.times import Timestamp, later, moment
from ingot.errors import Throttled
from ingot.instance.tables import Throttle, throttles

_BY_KEY = select(throttles).where(throttles.c.key == bindparam("throttle"))
# Two tries at once must both be counted: the second waits for the first.
_HELD = _BY_KEY.with_for_update()
_GIVE_BACK = (
    update(throttles)
    .where(throttles.c.key == bindparam("throttle"), throttles.c.count > 0)
    .values(count=throttles.c.count - 1)
)
_WAIT_SECONDS = 60
_DROP_ENDED = delete(throttles).where(throttles.c.ends_at <= bindparam("now"))


def tries(db: Connection, key: str, window_seconds: int) -> Throttle | None:
    """How often ``key`` was counted in the window that runs, if one does."""
    throttle = db.first(Throttle, _BY_KEY, throttle=key)
    # A window that ends later than any could is from before the clock was set back, and over.
    runs = throttle is not None and db.now < throttle.ends_at <= _latest(db, window_seconds)
    return throttle if runs else None


def refuse_beyond(db: Connection, key: str, most: int, window_seconds: int) -> None:
    """Stop a caller who has used up the window."""
    throttle = tries(db, key, window_seconds)
    if throttle is not None and throttle.count >= most:
        raise Throttled(seconds_left(db, throttle))


def count_try(db: Connection, key: str, window_seconds: int) -> Throttle:
    """Count one; the first begins a window."""
    held = db.first(Throttle, _HELD, throttle=key)
    if held is None:
        ends_at = later(db.now, seconds=window_seconds)
        row_id = db.insert(throttles, key=key, ends_at=ends_at, count=1)
        return Throttle(row_id, key, ends_at, 1)
    # A clock that was set back must not stretch a window.
    if held.ends_at <= db.now or held.ends_at > _latest(db, window_seconds):
        held = Throttle(held.id, key, later(db.now, seconds=window_seconds), 0)
    counted = Throttle(held.id, key, held.ends_at, held.count + 1)
    db.update(throttles, counted.id, ends_at=counted.ends_at, count=counted.count)
    return counted


def _latest(db: Connection, window_seconds: int) -> Timestamp:
    """When a window can end at the latest: whoever waited for the row may have begun before the one who made it."""
    return later(db.now, seconds=window_seconds + _WAIT_SECONDS)


def give_try_back(db: Connection, key: str) -> None:
    """Take one back that turned out not to count."""
    db.run(_GIVE_BACK, throttle=key)


def seconds_left(db: Connection, throttle: Throttle) -> int:
    """How long the window still runs; at least a second."""
    return max(1, round((moment(throttle.ends_at) - moment(db.now)).total_seconds()))


def drop_ended(db: Connection) -> int:
    """Forget windows that are over."""
    return db.run(_DROP_ENDED, now=db.now)
