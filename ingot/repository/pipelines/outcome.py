"""What many statuses amount to: one status, one coverage, one duration."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ingot.db.times import Timestamp, moment
from ingot.repository.pipelines.tables import Status

_MAY_BE_IGNORED = ("failed", "canceled", "manual")
_TAKES_TIME = ("running", "success", "failed", "canceled")


class Part(NamedTuple):
    """One of the statuses, as far as it counts for the whole."""

    status: Status
    allow_failure: bool = False
    coverage: float | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None


def overall_status(parts: Iterable[Part]) -> Status:
    """The status of the whole; of nothing at all it is that it was skipped."""
    parts = list(parts)
    relevant = [part for part in parts if not (part.allow_failure and part.status in _MAY_BE_IGNORED)]
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


def overall_coverage(parts: Iterable[Part]) -> float | None:
    """The mean of those that were told."""
    told = [part.coverage for part in parts if part.coverage is not None]
    return sum(told) / len(told) if told else None


def seconds_taken(parts: Sequence[Part], now: Timestamp) -> int:
    """How long something ran; where several ran at once, that time counts once."""
    ran = [part for part in parts if part.status in _TAKES_TIME and part.started_at is not None]
    periods = sorted((part.started_at or now, part.finished_at or now) for part in ran)
    total, until = 0.0, None
    for begin, end in periods:
        counted_from = begin if until is None or begin > until else until
        if end > counted_from:
            total += (moment(end) - moment(counted_from)).total_seconds()
            until = end
    return int(total)
