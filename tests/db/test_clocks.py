"""Clock of a database server, as its samples tell it."""

import time

from ingot.core.db.clocks import ServerClock, wall_clock
from ingot.core.db.times import to_datetime


def _difference(clock: ServerClock) -> float:
    """Return the seconds by which a clock is ahead of this machine's, or a little more if the machine is busy."""
    earlier = wall_clock()
    return (to_datetime(clock.now()) - to_datetime(earlier)).total_seconds()


def test_a_clock_without_samples_shows_the_time_of_this_machine() -> None:
    clock = ServerClock()
    assert abs(_difference(clock)) < 1
    assert (clock.offset(), clock.is_due) == (0.0, False)


def test_a_sample_sets_the_clock() -> None:
    clock = ServerClock()
    clock.sample(time.time() + 3600)
    assert 3590 < _difference(clock) < 3610
    assert -3610 < clock.offset() < -3590


def test_a_slow_response_does_not_set_the_clock_back() -> None:
    """A server that was set back, or another one, does."""
    clock = ServerClock()
    clock.sample(time.time() + 3600)
    before = clock.offset()
    clock.sample(time.time() + 3599.5)
    assert clock.offset() < before + 0.25
    clock.sample(time.time() - 3600)
    assert -3610 < _difference(clock) < -3590
