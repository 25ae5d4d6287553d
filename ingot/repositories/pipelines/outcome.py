"""Status, coverage and duration of a pipeline, computed from its statuses."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ingot.core.db.times import Timestamp, to_datetime
from ingot.repositories.pipelines.tables import Status

_IGNORABLE_FAILURES = ("failed", "canceled", "manual")
_TIMED_STATUSES = ("running", "success", "failed", "canceled")


class StatusPart(NamedTuple):
    """Fields of a commit status that count for its pipeline."""

    status: Status
    allow_failure: bool = False
    coverage: float | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


def combined_status(parts: Iterable[StatusPart]) -> Status:
    """Return the status of the pipeline; "skipped" if it has no statuses."""
    parts = list(parts)
    relevant = [part for part in parts if not (part.allow_failure and part.status in _IGNORABLE_FAILURES)]
    count = Counter(part.status for part in relevant)
    total, skipped, success = len(relevant), count["skipped"], count["success"]
    if total == skipped:
        has_ignored_failure = any(part.allow_failure and part.status in ("failed", "canceled") for part in parts)
        return "success" if has_ignored_failure else "skipped"
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
