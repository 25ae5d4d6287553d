"""What dispatchers agree on through the database: who sends for which hook, what is due, and how it went."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import Text, bindparam, func, literal_column, or_, select, update

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, add_duration
from ingot.integrations.webhooks.delivery.outcome import MAX_PAUSE_SECONDS, DeliveryOutcome
from ingot.integrations.webhooks.tables import Delivery, Hook, hook_attempts, hook_deliveries, hook_events, hooks

LEASE_SECONDS = 10.0
SKEW_SECONDS = 60.0
"""By how much the clocks of several machines may differ without anything being taken for a jump."""
MAX_BATCH_SIZE = 50
MAX_HOOKS = 10_000
MAX_BATCH_BYTES = 2 * 2**20
# Written out, since the indexes for it are partial ones.
_WAITING = hook_deliveries.c.state == literal_column("'waiting'")
_UNLEASED = or_(
    hooks.c.leased_until.is_(None), hooks.c.leased_until <= bindparam("now"), hooks.c.leased_until > bindparam("lapse")
)
# Steps from one hook with something to tell to the next: as many steps as hooks, however much each has to tell.
_WAITING_HOOK_IDS = (
    select(func.min(hook_deliveries.c.hook_id).label("hook")).where(_WAITING).cte("steps", recursive=True)
)
_WAITING_HOOK_IDS = _WAITING_HOOK_IDS.union_all(
    select(
        select(func.min(hook_deliveries.c.hook_id))
        .where(_WAITING, hook_deliveries.c.hook_id > _WAITING_HOOK_IDS.c.hook)
        .scalar_subquery()
    ).where(_WAITING_HOOK_IDS.c.hook.is_not(None))
)
_FIRST_DUE = (
    select(func.min(hook_deliveries.c.due_at))
    .where(_WAITING, hook_deliveries.c.hook_id == hooks.c.id)
    .scalar_subquery()
)
_WAITING_HOOKS = (
    select(hooks.c.id, _FIRST_DUE, hooks.c.disabled_until, hooks.c.lease, hooks.c.leased_until, hooks.c.failures)
    .join(_WAITING_HOOK_IDS, _WAITING_HOOK_IDS.c.hook == hooks.c.id)
    .limit(MAX_HOOKS)
)
_CLAIMED = (
    select(hooks).where(in_list(hooks.c.id, "hooks"), _UNLEASED).order_by(hooks.c.id).with_for_update(skip_locked=True)
)
_LEASE = (
    update(hooks)
    .where(in_list(hooks.c.id, "hooks"))
    .values(lease=bindparam("mine", type_=Text), leased_until=bindparam("until", type_=Text))
)
_RENEW = update(hooks).where(hooks.c.lease == bindparam("mine")).values(leased_until=bindparam("until", type_=Text))
_RELEASE = (
    update(hooks)
    .where(in_list(hooks.c.id, "hooks"), hooks.c.lease == bindparam("mine"))
    .values(lease=None, leased_until=None)
)
_RELEASE_ALL = update(hooks).where(hooks.c.lease.is_not(None)).values(lease=None, leased_until=None)
_HOOK = select(hooks).where(hooks.c.id == bindparam("hook"), hooks.c.lease == bindparam("mine"))
_SIZES = (
    select(hook_deliveries.c.id, func.length(hook_events.c.payload))
    .join(hook_events, hook_events.c.id == hook_deliveries.c.event_id)
    .where(hook_deliveries.c.hook_id == bindparam("hook"), _WAITING)
    .order_by(hook_deliveries.c.id)
    .limit(MAX_BATCH_SIZE)
)
_FIRST_ATTEMPTS = _SIZES.where(hook_deliveries.c.attempts == literal_column("0"))
_RETRIES = _SIZES.where(hook_deliveries.c.attempts > literal_column("0"), hook_deliveries.c.due_at <= bindparam("now"))
_FUTURE_DELIVERY = (
    select(hook_deliveries.c.id).where(_WAITING, hook_deliveries.c.placed_at > bindparam("soon")).limit(1)
)
_REPAIR_CLOCK_SKEW = (
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
    .where(in_list(hook_deliveries.c.id, "deliveries"))
    .order_by(hook_deliveries.c.attempts > literal_column("0"), hook_deliveries.c.id)
)
_RECORD_OUTCOME = (
    update(hook_deliveries)
    .where(hook_deliveries.c.id == bindparam("delivery"), _WAITING)
    .values(
        state=bindparam("becomes", type_=Text),
        attempts=bindparam("tried"),
        due_at=bindparam("next_at", type_=Text),
        placed_at=bindparam("moment", type_=Text),
    )
)
_RECORD_HEALTH = (
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.lease == bindparam("mine"))
    .values(failures=bindparam("failed"), disabled_until=bindparam("paused_until", type_=Text))
)


class DeliveryBatch(NamedTuple):
    """A hook as it is now, and what it has to tell."""

    hook: Hook
    deliveries: list[Delivery]


class CompletedPayload(NamedTuple):
    """A payload into which was put what only a repository knows."""

    event_id: int
    payload: str


class HookHealth(NamedTuple):
    """How a hook has done lately."""

    hook_id: int
    failures: int
    disabled_until: Timestamp | None


def due_hooks(db: Connection, lease_owner: str) -> tuple[list[int], set[int], Timestamp | None]:
    """The hooks for which something is due and nobody else sends, which of them fail, and when there may be more.

    Those that fail come last, since they may take long.
    """
    longest = add_duration(db.now, seconds=MAX_PAUSE_SECONDS + SKEW_SECONDS)
    lapse = _longest_valid_lease(db)
    due: list[tuple[bool, Timestamp, int]] = []
    moments: list[Timestamp] = []
    for hook_id, first_due, disabled_until, lease, leased_until, failures in db.rows(_WAITING_HOOKS):
        waits = [first_due]
        # What a clock wrote that has been put back since is not waited for.
        if disabled_until is not None and disabled_until <= longest:
            waits.append(disabled_until)
        if leased_until is not None and lease != lease_owner and leased_until <= lapse:
            waits.append(leased_until)
        ready = max(waits)
        if ready <= db.now:
            due.append((failures > 0, first_due, hook_id))
        else:
            moments.append(ready)
    failing = {hook_id for failed, _, hook_id in due if failed}
    return [hook_id for _, _, hook_id in sorted(due)], failing, min(moments, default=None)


def repair_clock_skew(db: Connection) -> int:
    """Let what a clock ahead of ours wrote be due; says how much that was."""
    return db.run(_REPAIR_CLOCK_SKEW, soon=_skew_limit(db), moment=db.now)


def has_clock_skew(db: Connection) -> bool:
    """Whether a clock ahead of ours has written something."""
    return db.value(_FUTURE_DELIVERY, soon=_skew_limit(db)) is not None


def claim_hooks(db: Connection, lease_owner: str, wanted: Sequence[int]) -> list[int]:
    """Be the one who sends for hooks, where nobody else was quicker."""
    held = [hook.id for hook in db.all(Hook, _CLAIMED, hooks=list(wanted), now=db.now, lapse=_longest_valid_lease(db))]
    if held:
        db.run(_LEASE, hooks=held, mine=lease_owner, until=add_duration(db.now, seconds=LEASE_SECONDS))
    return held


def renew_leases(db: Connection, lease_owner: str) -> None:
    """Stay the one who sends."""
    db.run(_RENEW, mine=lease_owner, until=add_duration(db.now, seconds=LEASE_SECONDS))


def release_all_leases(db: Connection) -> None:
    """Let go of what dispatchers hold that have died; only where none lives."""
    db.run(_RELEASE_ALL)


def next_batch(db: Connection, lease_owner: str, hook_id: int) -> DeliveryBatch | None:
    """What a hook has to tell next, in order, first what was never tried; nothing where it is no longer ours."""
    hook = db.first(Hook, _HOOK, hook=hook_id, mine=lease_owner)
    if hook is None:
        return None
    chosen: list[int] = []
    size = 0
    sizes = db.rows(_FIRST_ATTEMPTS, hook=hook_id)
    if len(sizes) < MAX_BATCH_SIZE:
        sizes += db.rows(_RETRIES, hook=hook_id, now=db.now)
    for delivery_id, length in sizes:
        size += length
        if chosen and size > MAX_BATCH_BYTES:
            break
        chosen.append(delivery_id)
    return DeliveryBatch(hook, db.all(Delivery, _DELIVERIES, deliveries=chosen) if chosen else [])


def record_outcomes(
    db: Connection,
    lease_owner: str,
    outcomes: Sequence[DeliveryOutcome],
    finished: Sequence[CompletedPayload],
    healths: Sequence[HookHealth],
    released: Collection[int],
) -> None:
    """Write down how it went, and let go of hooks that have nothing more to tell."""
    for event_id, payload in finished:
        db.update(hook_events, event_id, payload=payload, unfinished=None)
    for each in outcomes:
        touched = db.run(
            _RECORD_OUTCOME,
            delivery=each.delivery_id,
            becomes=each.state,
            tried=each.attempt,
            next_at=each.due_at(db.now),
            moment=db.now,
        )
        if touched and not each.silent:
            db.insert(hook_attempts, **each.row())
    for stand in healths:
        db.run(
            _RECORD_HEALTH,
            hook=stand.hook_id,
            mine=lease_owner,
            failed=stand.failures,
            paused_until=stand.disabled_until,
        )
    if released:
        db.run(_RELEASE, hooks=list(released), mine=lease_owner)


def _skew_limit(db: Connection) -> Timestamp:
    return add_duration(db.now, seconds=SKEW_SECONDS)


def _longest_valid_lease(db: Connection) -> Timestamp:
    return add_duration(db.now, seconds=LEASE_SECONDS + SKEW_SECONDS)
