"""Coordination of dispatchers through the database: leases of hooks, due deliveries, and their outcomes."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import Text, bindparam, func, literal_column, or_, select, update

from ingot.core.access.levels import Level
from ingot.core.db.announcements import announce
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, add_duration
from ingot.projects.namespaces.tables import memberships, namespace_tree, namespaces
from ingot.projects.projects.tables import projects
from ingot.webhooks.delivery.outcome import MAX_PAUSE_SECONDS, DeliveryOutcome
from ingot.webhooks.delivery.shares import DueHook
from ingot.webhooks.delivery.tables import hook_deliveries
from ingot.webhooks.tables import Delivery, Hook, hook_attempts, hook_events, hooks

LEASE_SECONDS = 10.0
SKEW_SECONDS = 60.0
"""Tolerated difference between the clocks of several machines; a larger one counts as a clock that was reset."""
MAX_BATCH_DELIVERIES = 50
MAX_HOOKS = 10_000
MAX_BATCH_BYTES = 2 * 2**20
# A literal, because the indexes are partial ones on this condition.
_WAITING = hook_deliveries.c.state == literal_column("'waiting'")
_UNLEASED = or_(
    hooks.c.leased_until.is_(None), hooks.c.leased_until <= bindparam("now"), hooks.c.leased_until > bindparam("lapse")
)
# Skip scan over the hooks with waiting deliveries: one step per hook, however many deliveries each has.
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
_ROOT_NAMESPACE = (
    select(namespaces.c.id)
    .join(namespace_tree, namespace_tree.c.ancestor_id == namespaces.c.id)
    .where(
        namespace_tree.c.descendant_id == func.coalesce(hooks.c.group_id, projects.c.namespace_id),
        namespaces.c.parent_id.is_(None),
    )
)
_FIRST_OWNER = (
    select(memberships.c.user_id)
    .where(
        memberships.c.source_kind == literal_column("'group'"),
        memberships.c.source_id == namespaces.c.id,
        memberships.c.access_level == literal_column(str(int(Level.OWNER))),
    )
    .order_by(memberships.c.id)
    .limit(1)
    .correlate(namespaces)
    .scalar_subquery()
)
_ROOT_OWNER = _ROOT_NAMESPACE.with_only_columns(func.coalesce(namespaces.c.owner_id, _FIRST_OWNER))
# Failing hooks come last, those with the longest pause at the end: any number of them hides no other hook.
_WAITING_HOOKS = (
    select(
        hooks.c.id,
        hooks.c.url,
        _ROOT_NAMESPACE.scalar_subquery(),
        _ROOT_OWNER.scalar_subquery(),
        _FIRST_DUE,
        hooks.c.disabled_until,
        hooks.c.lease,
        hooks.c.leased_until,
        hooks.c.failures,
    )
    .join(_WAITING_HOOK_IDS, _WAITING_HOOK_IDS.c.hook == hooks.c.id)
    .outerjoin(projects, projects.c.id == hooks.c.project_id)
    .order_by(hooks.c.failures > literal_column("0"), func.coalesce(hooks.c.disabled_until, literal_column("''")))
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
    .limit(MAX_BATCH_DELIVERIES)
)
_DUE_DELIVERY = (
    select(hook_deliveries.c.id)
    .join(hooks, hooks.c.id == hook_deliveries.c.hook_id)
    .where(
        _WAITING,
        hook_deliveries.c.due_at <= bindparam("now"),
        or_(hooks.c.disabled_until.is_(None), hooks.c.disabled_until <= bindparam("now")),
    )
    .limit(1)
)
_FIRST_ATTEMPTS = _SIZES.where(hook_deliveries.c.attempts == literal_column("0"))
_RETRIES = _SIZES.where(hook_deliveries.c.attempts > literal_column("0"), hook_deliveries.c.due_at <= bindparam("now"))
_SKEWED = select(hook_deliveries.c.id).where(_WAITING, hook_deliveries.c.placed_at > bindparam("soon")).limit(1)
_REPAIR_SKEW = (
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
_SAVE_OUTCOME = (
    update(hook_deliveries)
    .where(hook_deliveries.c.id == bindparam("delivery"), _WAITING)
    .values(
        state=bindparam("becomes", type_=Text),
        attempts=bindparam("tried"),
        due_at=bindparam("next_at", type_=Text),
        placed_at=bindparam("moment", type_=Text),
    )
)
_SAVE_HEALTH = (
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.lease == bindparam("mine"))
    .values(failures=bindparam("failed"), disabled_until=bindparam("paused_until", type_=Text))
)


class DeliveryBatch(NamedTuple):
    """Current record of a hook, and its next deliveries."""

    hook: Hook
    deliveries: list[Delivery]


class CompletedPayload(NamedTuple):
    """Payload of an event, completed from the repository."""

    event_id: int
    payload: str


class HookHealth(NamedTuple):
    """Consecutive failures of a hook, and the end of its pause."""

    hook_id: int
    failures: int
    disabled_until: Timestamp | None


def has_due_delivery(db: Connection) -> bool:
    """Return whether a delivery is due now."""
    return db.value(_DUE_DELIVERY, now=db.now) is not None


def find_due_hooks(db: Connection, mine: str) -> tuple[list[DueHook], Timestamp | None]:
    """Return the unleased hooks with due deliveries, and the time of the next check.

    Failing hooks come last, because their deliveries may take long.
    """
    latest = add_duration(db.now, seconds=MAX_PAUSE_SECONDS + SKEW_SECONDS)
    lapse = _longest_valid_lease(db)
    due: list[tuple[bool, Timestamp, DueHook]] = []
    moments: list[Timestamp] = []
    for hook_id, url, root, owner, first_due, disabled_until, lease, leased_until, failures in db.rows(_WAITING_HOOKS):
        waits = [first_due]
        # Ignore times that were written by a clock that has been set back since.
        if disabled_until is not None and disabled_until <= latest:
            waits.append(disabled_until)
        if leased_until is not None and lease != mine and leased_until <= lapse:
            waits.append(leased_until)
        ready = max(waits)
        if ready <= db.now:
            hook = DueHook(hook_id, failures > 0, root, url.partition("://")[2].partition("/")[0], owner)
            due.append((hook.failing, first_due, hook))
        else:
            moments.append(ready)
    return [hook for _, _, hook in sorted(due)], min(moments, default=None)


def repair_clock_skew(db: Connection) -> int:
    """Make deliveries due that a fast clock postponed; return their number."""
    return db.run_counted(_REPAIR_SKEW, soon=_skew_limit(db), moment=db.now)


def has_clock_skew(db: Connection) -> bool:
    """Return whether a fast clock postponed a delivery."""
    return db.value(_SKEWED, soon=_skew_limit(db)) is not None


def claim_hooks(db: Connection, mine: str, wanted: Sequence[int]) -> list[int]:
    """Lease hooks for this dispatcher; return the leased ones, without hooks that another dispatcher leased first."""
    held = [hook.id for hook in db.all(Hook, _CLAIMED, hooks=list(wanted), now=db.now, lapse=_longest_valid_lease(db))]
    if held:
        db.run(_LEASE, hooks=held, mine=mine, until=add_duration(db.now, seconds=LEASE_SECONDS))
    return held


def renew_leases(db: Connection, mine: str) -> None:
    """Extend the leases of this dispatcher."""
    db.run(_RENEW, mine=mine, until=add_duration(db.now, seconds=LEASE_SECONDS))


def release_all_leases(db: Connection) -> None:
    """Release the leases of dispatchers that crashed; only when no dispatcher runs."""
    db.run(_RELEASE_ALL)


def next_batch(db: Connection, mine: str, hook_id: int) -> DeliveryBatch | None:
    """Return the next deliveries of a hook in order, new ones before retries; None if its lease is lost."""
    hook = db.first(Hook, _HOOK, hook=hook_id, mine=mine)
    if hook is None:
        return None
    chosen: list[int] = []
    size = 0
    sizes = db.rows(_FIRST_ATTEMPTS, hook=hook_id)
    if len(sizes) < MAX_BATCH_DELIVERIES:
        sizes += db.rows(_RETRIES, hook=hook_id, now=db.now)
    for delivery_id, length in sizes:
        size += length
        if chosen and size > MAX_BATCH_BYTES:
            break
        chosen.append(delivery_id)
    return DeliveryBatch(hook, db.all(Delivery, _DELIVERIES, deliveries=chosen) if chosen else [])


def hook_topic(hook_id: int) -> str:
    """Return the topic that is announced when a hook has a new delivery attempt."""
    return f"hook:{hook_id}"


def save_outcomes(
    db: Connection,
    mine: str,
    outcomes: Sequence[DeliveryOutcome],
    payloads: Sequence[CompletedPayload],
    health: Sequence[HookHealth],
    released: Collection[int],
) -> None:
    """Write outcomes, completed payloads and the health of hooks, and release leases."""
    for event_id, payload in payloads:
        db.update(hook_events, event_id, payload=payload, unfinished=None)
    for each in outcomes:
        updated = db.run_counted(
            _SAVE_OUTCOME,
            delivery=each.delivery_id,
            becomes=each.state,
            tried=each.attempt,
            next_at=each.due_at(db.now),
            moment=db.now,
        )
        if updated and not each.silent:
            db.insert(hook_attempts, **each.row())
            announce(db, hook_topic(each.hook_id))
    for each_hook in health:
        db.run(
            _SAVE_HEALTH,
            hook=each_hook.hook_id,
            mine=mine,
            failed=each_hook.failures,
            paused_until=each_hook.disabled_until,
        )
    if released:
        db.run(_RELEASE, hooks=list(released), mine=mine)


def _skew_limit(db: Connection) -> Timestamp:
    return add_duration(db.now, seconds=SKEW_SECONDS)


def _longest_valid_lease(db: Connection) -> Timestamp:
    return add_duration(db.now, seconds=LEASE_SECONDS + SKEW_SECONDS)
