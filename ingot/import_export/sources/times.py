"""Comparison of times of sources."""

from datetime import datetime


def changed_since(time: str, since: str | None) -> bool:
    """Return whether a time is not before another one; zones and precisions may differ."""
    return since is None or datetime.fromisoformat(time) >= datetime.fromisoformat(since)
