"""Texts of the system notes that issues and merge requests share; clients parse them, so their form is a contract."""

from collections.abc import Sequence

from ingot.collaboration.planning.durations import format_duration


def title_changed(before: str, after: str) -> str:
    """Return the text for a new title, in which the part that differs is marked."""
    start = _common_prefix(before, after)
    end = _common_prefix(before[start:][::-1], after[start:][::-1])
    return f"changed title from **{_marked(before, start, end, '-')}** to **{_marked(after, start, end, '+')}**"


def _common_prefix(first: str, second: str) -> int:
    """Return the length of the common prefix."""
    return next(
        (index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def _marked(title: str, start: int, end: int, sign: str) -> str:
    last = len(title) - end
    middle = title[start:last]
    return title[:start] + (f"{{{sign}{middle}{sign}}}" if middle else "") + title[last:]


def labels_changed(added: Sequence[int], removed: Sequence[int]) -> str:
    """Return the text for changed labels, by id, because a label can be renamed."""
    parts = [
        f"{verb} {' '.join(f'~{number}' for number in numbers)}"
        for verb, numbers in (("added", added), ("removed", removed))
        if numbers
    ]
    return f"{' and '.join(parts)} {'label' if len(added) + len(removed) == 1 else 'labels'}"


def assignees_changed(added: Sequence[str], removed: Sequence[str]) -> str:
    """Return the text for changed assignees."""
    parts = [
        f"{verb} {_enumerate([f'@{name}' for name in names])}"
        for verb, names in (("assigned to", added), ("unassigned", removed))
        if names
    ]
    return " and ".join(parts)


def milestone_changed(title: str | None) -> str:
    """Return the text for a new milestone; a title with spaces is quoted, so that the reference is recognized."""
    if title is None:
        return "removed milestone"
    return f"changed milestone to %{title}" if title.isalnum() else f'changed milestone to %"{title}"'


def estimate_changed(seconds: int) -> str:
    """Return the text for a new time estimate."""
    return f"changed time estimate to {format_duration(seconds)}" if seconds else "removed time estimate"


def time_spent_changed(before: int, after: int) -> str:
    """Return the text for a change of the time spent."""
    if after == 0:
        return "removed time spent"
    verb = "added" if after > before else "subtracted"
    return f"{verb} {format_duration(abs(after - before))} of time spent"


def _enumerate(words: Sequence[str]) -> str:
    if len(words) < 3:
        return " and ".join(words)
    return f"{', '.join(words[:-1])}, and {words[-1]}"
