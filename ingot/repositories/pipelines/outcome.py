"""What many statuses amount to: one status, one coverage, one duration."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ingot.core.db.times import Timestamp, to_datetime
from ingot.repositories.pipelines.tables import Status

_IGNORABLE_FAILURES = ("failed", "canceled", "manual")
_TIMED_STATUSES = ("running", "success", "failed", "canceled")


class StatusPart(NamedTuple):
    """One of the statuses, as far as it counts for the whole."""

    status: Status
    allow_failure: bool = False
    coverage: float | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


def combined_status(parts: Iterable[StatusPart]) -> Status:
    """The status of the whole; of nothing at all it is that it was skipped."""
    parts = list(parts)
    relevant = [part for part in parts if not (part.allow_failure and part.status in _IGNORABLE_FAILURES)]
    count = Counter(part.status for part in relevant)
    total, skipped, success = len(relevant), count["skipped"], count["success"]
    if total == skipped:
        forgiven = any(part.allow_failure and part.status in ("failed", "canceled") for part in parts)
        return "success" if forgiven else "skipped"
    if total == count["created"]:
        return "created"
    if total == success + skipped:
        return "success"
    if total == success + skipped + count["canceled"]:
        return "canceled"
    if total == count["created"] + skipped + count["pending"]:
        return "pending"
    if count["running"] or count["pending"]:
        return "running"
    if count["manual"]:
        return "manual"
    return "running" if count["created"] else "failed"


def mean_coverage(parts: Iterable[StatusPart]) -> float | None:
    """The mean of those that were told."""
    told = [part.coverage for part in parts if part.coverage is not None]
    return sum(told) / len(told) if told else None


def total_duration(parts: Sequence[StatusPart], now: Timestamp) -> int:
    """How long something ran; where several ran at once, that time counts once."""
    ran = [part for part in parts if part.status in _TIMED_STATUSES and part.started_at is not None]
    periods = sorted((part.started_at or now, part.finished_at or now) for part in ran)
    total, until = 0.0, None
    for begin, end in periods:
        counted_from = begin if until is None or begin > until else until
        if end > counted_from:
            total += (to_datetime(end) - to_datetime(counted_from)).total_seconds()
            until = end
    return int(total)
