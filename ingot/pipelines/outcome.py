"""Status, coverage and duration of a pipeline, computed from its statuses."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ingot.core.db.times import Timestamp, to_datetime
from ingot.pipelines.tables import Status

Kind = Status | Literal["warning", "ignored"]
"""Status of a job, or its effect on the status of the pipeline."""
_NO_EFFECT: frozenset[Kind] = frozenset({"warning", "ignored"})
_ONLY: Sequence[tuple[frozenset[Kind], Status]] = (
    (frozenset({"skipped", "ignored"}), "skipped"),
    (_NO_EFFECT | {"success", "skipped"}, "success"),
    (_NO_EFFECT | {"created"}, "created"),
    (_NO_EFFECT | {"success", "skipped", "canceled"}, "canceled"),
    (_NO_EFFECT | {"created", "skipped", "pending"}, "pending"),
)
"""Statuses that hold if no job is of another kind, in this order."""
_ANY: Sequence[tuple[frozenset[Kind], Status]] = (
    (frozenset({"running", "pending"}), "running"),
    (frozenset({"waiting_for_resource"}), "waiting_for_resource"),
    (frozenset({"manual"}), "manual"),
    (frozenset({"scheduled"}), "scheduled"),
    (frozenset({"created"}), "running"),
    (frozenset({"canceling"}), "canceling"),
)
"""Statuses that hold if one job is of these kinds, in this order; otherwise a job has failed."""
_TIMED_STATUSES = ("running", "success", "failed", "canceled")


class StatusPart(NamedTuple):
    """Fields of a commit status that count for its pipeline."""

    status: Status
    allow_failure: bool = False
    coverage: float | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


def status_kind(status: Status, *, allow_failure: bool) -> Kind:
    """Return the effect of a status: allowed failures are warnings, and manual jobs that need not run are ignored."""
    if allow_failure and status in ("failed", "canceled"):
        return "warning"
    if allow_failure and status == "manual":
        return "ignored"
    return status


def status_of_kinds(kinds: Collection[Kind]) -> Status:
    """Return the common status of some statuses, at least one."""
    present = frozenset(kinds)
    for only, status in _ONLY:
        if present <= only:
            return status
    return next((status for some, status in _ANY if present & some), "failed")


def combined_status(parts: Iterable[StatusPart]) -> Status:
    """Return the status of the pipeline; "skipped" if it has no statuses."""
    kinds = {status_kind(part.status, allow_failure=part.allow_failure) for part in parts}
    return status_of_kinds(kinds) if kinds else "skipped"


def mean_coverage(parts: Iterable[StatusPart]) -> float | None:
    """Return the mean of the reported coverages, or None."""
    values = [part.coverage for part in parts if part.coverage is not None]
    return sum(values) / len(values) if values else None


def total_duration(parts: Sequence[StatusPart], now: Timestamp) -> int:
    """Return the seconds during which at least one part was running."""
    started = [part for part in parts if part.status in _TIMED_STATUSES and part.started_at is not None]
    periods = sorted((part.started_at or now, part.finished_at or now) for part in started)
    total, counted_until = 0.0, None
    for start, end in periods:
        counted_from = start if counted_until is None or start > counted_until else counted_until
        if end > counted_from:
            total += (to_datetime(end) - to_datetime(counted_from)).total_seconds()
            counted_until = end
    return int(total)
