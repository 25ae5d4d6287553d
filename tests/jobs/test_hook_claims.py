"""Claims of webhook dispatchers: one per hook, leases, and clock changes."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import delete, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.webhooks.delivery import claims
from ingot.webhooks.delivery.claims import (
    HookHealth,
    claim_hooks,
    find_due_hooks,
    has_clock_skew,
    next_batch,
    release_all_leases,
    renew_leases,
    repair_clock_skew,
    save_outcomes,
)
from ingot.webhooks.delivery.outcome import DeliveryOutcome
from ingot.webhooks.delivery.tables import hook_deliveries
from ingot.webhooks.outbox import queue_event
from ingot.webhooks.tables import EVENT_FLAGS, hook_events, hooks
from tests.jobs.conftest import JobQueue

_STATES = select(hook_deliveries.c.state, hook_deliveries.c.attempts).order_by(hook_deliveries.c.id)


class DeliveryQueue:
    """Hooks with deliveries, and dispatchers that are not running."""

    def __init__(self, job_queue: JobQueue) -> None:
        self.clock = job_queue.clock
        self.write = job_queue.database.write
        self.read = job_queue.database.read

    def hook(self) -> int:
        """Create a system hook."""
        flags: dict[str, Any] = dict.fromkeys(EVENT_FLAGS, False)
        fixed = {"kind": "system", "url": "http://example.com/", "failures": 0, "enable_ssl_verification": True}
        return self.write(
            lambda db: db.insert(hooks, **flags, **fixed, branch_filter_strategy="wildcard", created_at=db.now)
        )

    def enqueue(self, *hook_ids: int) -> None:
        """Enqueue an event for these hooks."""
        self.write(lambda db: queue_event(db, "system_events", {"event_name": "x"}, hook_ids))

    def due(self, mine: str) -> list[int]:
        """Return the hooks that could be claimed now."""
        return [hook.id for hook in self.read(lambda db: find_due_hooks(db, mine))[0]]

    def claim(self, mine: str) -> list[int]:
        """Claim them."""
        return self.write(lambda db: claim_hooks(db, mine, self.due(mine)))

    def outcome(self, hook_id: int, status: int | None, attempt: int = 1) -> DeliveryOutcome:
        """Return the result of the hook's first delivery."""
        batch = self.read(lambda db: next_batch(db, "a", hook_id))
        assert batch is not None
        number = batch.deliveries[0].id
        return DeliveryOutcome(number, hook_id, attempt, "", {}, status, {}, "", 0.1, None, self.clock(), False)

    def settle(
        self, mine: str, *outcomes: DeliveryOutcome, released: tuple[int, ...] = (), health: tuple[HookHealth, ...] = ()
    ) -> None:
        """Record the result."""
        self.write(lambda db: save_outcomes(db, mine, outcomes, (), health, released))

    def states(self) -> list[tuple[str, int]]:
        """Return the states of deliveries."""
        return self.read(lambda db: [(state, attempts) for state, attempts in db.rows(_STATES)])


@pytest.fixture
def queue(job_queue: JobQueue) -> Iterator[DeliveryQueue]:
    """Yield an empty queue."""

    def empty(db: Connection) -> None:
        for table in (hook_events, hooks):
            db.run(delete(table))

    job_queue.database.write(empty)
    yield DeliveryQueue(job_queue)
    job_queue.database.write(empty)


def test_a_hook_is_claimed_by_one_dispatcher(queue: DeliveryQueue) -> None:
    """Until it is released or the lease expires."""
    one, two = queue.hook(), queue.hook()
    queue.enqueue(one)
    assert queue.claim("a") == [one]
    queue.enqueue(one, two)
    assert queue.due("b") == [two]
    assert queue.claim("b") == [two]
    assert queue.read(lambda db: next_batch(db, "b", one)) is None
    batch = queue.read(lambda db: next_batch(db, "a", one))
    assert batch is not None
    assert len(batch.deliveries) == 2
    queue.clock.step(seconds=8)
    queue.write(lambda db: renew_leases(db, "a"))
    queue.clock.step(seconds=8)
    # The second one has died; the first one renewed its lease.
    assert queue.due("c") == [two]
    queue.settle("a", released=(one,))
    assert queue.due("c") == [one, two]
    assert queue.claim("c") == [one, two]
    queue.write(release_all_leases)
    assert queue.claim("d") == [one, two]


def test_delivered_events_are_not_sent_again(queue: DeliveryQueue) -> None:
    """Failed ones are, after their delay; later events go first."""
    hook = queue.hook()
    queue.enqueue(hook)
    queue.enqueue(hook)
    queue.claim("a")
    queue.settle("a", queue.outcome(hook, 200))
    assert queue.states() == [("done", 1), ("waiting", 0)]
    queue.settle("a", queue.outcome(hook, None))
    assert queue.states() == [("done", 1), ("waiting", 1)]
    assert queue.due("a") == []
    queue.enqueue(hook)
    batch = queue.read(lambda db: next_batch(db, "a", hook))
    assert batch is not None
    assert [each.attempts for each in batch.deliveries] == [0]
    queue.clock.step(seconds=11)
    batch = queue.read(lambda db: next_batch(db, "a", hook))
    assert batch is not None
    assert [each.attempts for each in batch.deliveries] == [0, 1]
    queue.settle("a", queue.outcome(hook, 200))
    queue.settle("a", queue.outcome(hook, 500, attempt=16))
    assert queue.states() == [("done", 1), ("failed", 16), ("done", 1)]


def test_a_paused_hook_is_not_claimed(queue: DeliveryQueue) -> None:
    """Before the end of its pause, which is known."""
    hook = queue.hook()
    queue.enqueue(hook)
    queue.claim("a")
    until = queue.clock()
    queue.clock.step(seconds=-60)
    queue.settle("a", health=(HookHealth(hook, 4, until),), released=(hook,))
    assert queue.read(lambda db: find_due_hooks(db, "b")) == ([], until)
    queue.clock.step(seconds=60)
    assert queue.due("b") == [hook]


def test_failing_hooks_hide_no_other(queue: DeliveryQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: more paused hooks have waiting deliveries than one check reads."""
    monkeypatch.setattr(claims, "_WAITING_HOOKS", claims._WAITING_HOOKS.limit(2))
    paused = [queue.hook() for _ in range(3)]
    queue.enqueue(*paused)
    queue.write(lambda db: claim_hooks(db, "a", paused))
    until = add_duration(queue.clock(), seconds=60)
    queue.settle("a", health=tuple(HookHealth(each, 4, until) for each in paused), released=tuple(paused))
    healthy = queue.hook()
    queue.enqueue(healthy)
    assert queue.due("b") == [healthy]


def test_a_clock_set_back(queue: DeliveryQueue) -> None:
    """Delays, leases and pauses of seconds do not last a day."""
    hook = queue.hook()
    queue.enqueue(hook)
    queue.claim("a")
    queue.settle("a", queue.outcome(hook, 503))
    later = queue.clock.now
    queue.settle("a", health=(HookHealth(hook, 4, later),))
    queue.clock.step(days=-1)
    assert queue.due("b") == []
    assert queue.read(has_clock_skew)
    assert queue.write(repair_clock_skew) == 1
    assert queue.due("b") == [hook]
    assert queue.claim("b") == [hook]
