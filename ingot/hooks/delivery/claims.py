"""What dispatchers agree on through the database: who sends for which hook, what is due, and how it went."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import Text, bindparam, func, literal_column, or_, select, update

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.db.times import Timestamp, later
from ingot.hooks.delivery.outcome import LONGEST_PAUSE_SECONDS, Outcome
from ingot.hooks.tables import Delivery, Hook, hook_attempts, hook_deliveries, hook_events, hooks

LEASE_SECONDS = 10.0
SKEW_SECONDS = 60.0
"""By how much the clocks of several machines may differ without anything being taken for a jump."""
MOST_AT_ONCE = 50
MOST_HOOKS = 10_000
MOST_BYTES_AT_ONCE = 2 * 2**20
# Written out, since the indexes for it are partial ones.
_WAITING = hook_deliveries.c.state == literal_column("'waiting'")
_FREE = or_(
    hooks.c.leased_until.is_(None), hooks.c.leased_until <= bindparam("now"), hooks.c.leased_until > bindparam("lapse")
)
# Steps from one hook with something to tell to the next: as many steps as hooks, however much each has to tell.
_STEPS = select(func.min(hook_deliveries.c.hook_id).label("hook")).where(_WAITING).cte("steps", recursive=True)
_STEPS = _STEPS.union_all(
    select(
        select(func.min(hook_deliveries.c.hook_id))
        .where(_WAITING, hook_deliveries.c.hook_id > _STEPS.c.hook)
        .scalar_subquery()
    ).where(_STEPS.c.hook.is_not(None))
)
_FIRST_DUE = (
    select(func.min(hook_deliveries.c.due_at))
    .where(_WAITING, hook_deliveries.c.hook_id == hooks.c.id)
    .scalar_subquery()
)
_TELLING = (
    select(hooks.c.id, _FIRST_DUE, hooks.c.disabled_until, hooks.c.lease, hooks.c.leased_until, hooks.c.failures)
    .join(_STEPS, _STEPS.c.hook == hooks.c.id)
    .limit(MOST_HOOKS)
)
_CLAIMED = (
    select(hooks).where(any_of(hooks.c.id, "hooks"), _FREE).order_by(hooks.c.id).with_for_update(skip_locked=True)
)
_LEASE = (
    update(hooks)
    .where(any_of(hooks.c.id, "hooks"))
    .values(lease=bindparam("mine", type_=Text), leased_until=bindparam("until", type_=Text))
)
_RENEW = update(hooks).where(hooks.c.lease == bindparam("mine")).values(leased_until=bindparam("until", type_=Text))
_RELEASE = (
    update(hooks)
    .where(any_of(hooks.c.id, "hooks"), hooks.c.lease == bindparam("mine"))
    .values(lease=None, leased_until=None)
)
_RELEASE_ALL = update(hooks).where(hooks.c.lease.is_not(None)).values(lease=None, leased_until=None)
_HOOK = select(hooks).where(hooks.c.id == bindparam("hook"), hooks.c.lease == bindparam("mine"))
_SIZES = (
    select(hook_deliveries.c.id, func.length(hook_events.c.payload))
    .join(hook_events, hook_events.c.id == hook_deliveries.c.event_id)
    .where(hook_deliveries.c.hook_id == bindparam("hook"), _WAITING)
    .order_by(hook_deliveries.c.id)
    .limit(MOST_AT_ONCE)
)
_UNTRIED = _SIZES.where(hook_deliveries.c.attempts == literal_column("0"))
_TRIED = _SIZES.where(hook_deliveries.c.attempts > literal_column("0"), hook_deliveries.c.due_at <= bindparam("now"))
_AHEAD = select(hook_deliveries.c.id).where(_WAITING, hook_deliveries.c.placed_at > bindparam("soon")).limit(1)
_STRAIGHTEN = (
    update(hook_deliveries)
    .where(_WAITING, hook_deliveries.c.placed_at > bindparam("soon"))
    .values(due_at=bindparam("moment", type_=Text), placed_at=bindparam("moment", type_=Text))
)
_DELIVERIES = (
    select(
        hook_deliveries.c.id,
        hook_deliveries.c.attempts,
        hook_events.c.id.label("event"),
        hook_events.c.uuid,
        hook_events.c.trigger,
        hook_events.c.payload,
        hook_events.c.unfinished,
    )
    .join(hook_events, hook_events.c.id == hook_deliveries.c.event_id)
    .where(any_of(hook_deliveries.c.id, "deliveries"))
    .order_by(hook_deliveries.c.attempts > literal_column("0"), hook_deliveries.c.id)
)
_SETTLE = (
    update(hook_deliveries)
    .where(hook_deliveries.c.id == bindparam("delivery"), _WAITING)
    .values(
        state=bindparam("becomes", type_=Text),
        attempts=bindparam("tried"),
        due_at=bindparam("next_at", type_=Text),
        placed_at=bindparam("moment", type_=Text),
    )
)
_STAND = (
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.lease == bindparam("mine"))
    .values(failures=bindparam("failed"), disabled_until=bindparam("paused_until", type_=Text))
)


class Batch(NamedTuple):
    """A hook as it is now, and what it has to tell."""

    hook: Hook
    deliveries: list[Delivery]


class Finished(NamedTuple):
    """A payload into which was put what only a repository knows."""

    event_id: int
    payload: str


class Stand(NamedTuple):
    """How a hook has done lately."""

    hook_id: int
    failures: int
    disabled_until: Timestamp | None


def look(db: Connection, mine: str) -> tuple[list[int], set[int], Timestamp | None]:
    """The hooks for which something is due and nobody else sends, which of them fail, and when there may be more.

    Those that fail come last, since they may take long.
    """
    longest = later(db.now, seconds=LONGEST_PAUSE_SECONDS + SKEW_SECONDS)
    lapse = _lapse(db)
    due: list[tuple[bool, Timestamp, int]] = []
    moments: list[Timestamp] = []
    for hook_id, first_due, disabled_until, lease, leased_until, failures in db.rows(_TELLING):
        waits = [first_due]
        # What a clock wrote that has been put back since is not waited for.
        if disabled_until is not None and disabled_until <= longest:
            waits.append(disabled_until)
        if leased_until is not None and lease != mine and leased_until <= lapse:
            waits.append(leased_until)
        ready = max(waits)
        if ready <= db.now:
            due.append((failures > 0, first_due, hook_id))
        else:
            moments.append(ready)
    failing = {hook_id for failed, _, hook_id in due if failed}
    return [hook_id for _, _, hook_id in sorted(due)], failing, min(moments, default=None)


def straighten(db: Connection) -> int:
    """Let what a clock ahead of ours wrote be due; says how much that was."""
    return db.run(_STRAIGHTEN, soon=_soon(db), moment=db.now)


def is_ahead(db: Connection) -> bool:
    """Whether a clock ahead of ours has written something."""
    return db.value(_AHEAD, soon=_soon(db)) is not None


def claim(db: Connection, mine: str, wanted: Sequence[int]) -> list[int]:
    """Be the one who sends for hooks, where nobody else was quicker."""
    held = [hook.id for hook in db.all(Hook, _CLAIMED, hooks=list(wanted), now=db.now, lapse=_lapse(db))]
    if held:
        db.run(_LEASE, hooks=held, mine=mine, until=later(db.now, seconds=LEASE_SECONDS))
    return held


def renew(db: Connection, mine: str) -> None:
    """Stay the one who sends."""
    db.run(_RENEW, mine=mine, until=later(db.now, seconds=LEASE_SECONDS))


def release_all(db: Connection) -> None:
    """Let go of what dispatchers hold that have died; only where none lives."""
    db.run(_RELEASE_ALL)


def take(db: Connection, mine: str, hook_id: int) -> Batch | None:
    """What a hook has to tell next, in order, first what was never tried; nothing where it is no longer ours."""
    hook = db.first(Hook, _HOOK, hook=hook_id, mine=mine)
    if hook is None:
        return None
    chosen: list[int] = []
    size = 0
    sizes = db.rows(_UNTRIED, hook=hook_id)
    if len(sizes) < MOST_AT_ONCE:
        sizes += db.rows(_TRIED, hook=hook_id, now=db.now)
    for delivery_id, length in sizes:
        size += length
        if chosen and size > MOST_BYTES_AT_ONCE:
            break
        chosen.append(delivery_id)
    return Batch(hook, db.all(Delivery, _DELIVERIES, deliveries=chosen) if chosen else [])


def settle(
    db: Connection,
    mine: str,
    outcomes: Sequence[Outcome],
    finished: Sequence[Finished],
    stands: Sequence[Stand],
    released: Collection[int],
) -> None:
    """Write down how it went, and let go of hooks that have nothing more to tell."""
    for event_id, payload in finished:
        db.update(hook_events, event_id, payload=payload, unfinished=None)
    for each in outcomes:
        touched = db.run(
            _SETTLE,
            delivery=each.delivery_id,
            becomes=each.state,
            tried=each.attempt,
            next_at=each.due_at(db.now),
            moment=db.now,
        )
        if touched and not each.silent:
            db.insert(hook_attempts, **each.row())
    for stand in stands:
        db.run(_STAND, hook=stand.hook_id, mine=mine, failed=stand.failures, paused_until=stand.disabled_until)
    if released:
        db.run(_RELEASE, hooks=list(released), mine=mine)


def _soon(db: Connection) -> Timestamp:
    return later(db.now, seconds=SKEW_SECONDS)


def _lapse(db: Connection) -> Timestamp:
    return later(db.now, seconds=LEASE_SECONDS + SKEW_SECONDS)
