"""The sentences below an issue that say what became of it; clients read them, so their form is part of the contract."""

from collections.abc import Sequence
from datetime import date

from ingot.collaboration.issues.durations import format_duration


def title_changed(before: str, after: str) -> str:
    """What differs is marked, what is the same at both ends is not."""
    start = _common_prefix_length(before, after)
    end = _common_prefix_length(before[start:][::-1], after[start:][::-1])
    return f"changed title from **{_marked(before, start, end, '-')}** to **{_marked(after, start, end, '+')}**"


def _common_prefix_length(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _marked(title: str, start: int, end: int, sign: str) -> str:
    last = len(title) - end
    middle = title[start:last]
    return title[:start] + (f"{{{sign}{middle}{sign}}}" if middle else "") + title[last:]


def labels_changed(added: Sequence[int], removed: Sequence[int]) -> str:
    """By their numbers, which last when they are renamed."""
    parts = [
        f"{verb} {' '.join(f'~{number}' for number in numbers)}"
        for verb, numbers in (("added", added), ("removed", removed))
        if numbers
    ]
    return f"{' and '.join(parts)} {'label' if len(added) + len(removed) == 1 else 'labels'}"


def assignees_changed(added: Sequence[str], removed: Sequence[str]) -> str:
    """Who has it to do now, and who no more."""
    parts = [
        f"{verb} {_listed([f'@{name}' for name in names])}"
        for verb, names in (("assigned to", added), ("unassigned", removed))
        if names
    ]
    return " and ".join(parts)


def milestone_changed(title: str | None) -> str:
    """Which milestone it belongs to; one whose name has spaces is quoted, so that the sign leads there."""
    if title is None:
        return "removed milestone"
    return f"changed milestone to %{title}" if title.isalnum() else f'changed milestone to %"{title}"'


def due_date_changed(day: str | None) -> str:
    """When it is due."""
    if day is None:
        return "removed due date"
    due = date.fromisoformat(day)
    return f"changed due date to {due:%B} {due.day}, {due.year}"


def confidentiality_changed(confidential: bool) -> str:
    """Who may know of it."""
    return "made the issue confidential" if confidential else "made the issue visible to everyone"


def lock_changed(locked: bool) -> str:
    """Who may talk about it."""
    return "locked this issue" if locked else "unlocked this issue"


def estimate_changed(seconds: int) -> str:
    """How long it takes."""
    return f"changed time estimate to {format_duration(seconds)}" if seconds else "removed time estimate"


def time_spent_changed(before: int, after: int) -> str:
    """How long it took since."""
    if after == 0:
        return "removed time spent"
    verb = "added" if after > before else "subtracted"
    return f"{verb} {format_duration(abs(after - before))} of time spent"


def _listed(words: Sequence[str]) -> str:
    if len(words) < 3:
        return " and ".join(words)
    return f"{', '.join(words[:-1])}, and {words[-1]}"
