"""Durations of working time in GitLab's notation: ``1mo 2w 3d 4h 5m``, with 8 hours a day and 5 days a week."""

import re

_HOUR = 3600
_DAY = 8 * _HOUR
_WEEK = 5 * _DAY
_MONTH = 4 * _WEEK
_UNITS = {"mo": _MONTH, "w": _WEEK, "d": _DAY, "h": _HOUR, "m": 60, "s": 1}
_WORDS = {
    **_UNITS,
    **dict.fromkeys(("month", "months", "mos"), _MONTH),
    **dict.fromkeys(("week", "weeks"), _WEEK),
    **dict.fromkeys(("day", "days"), _DAY),
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), _HOUR),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), 60),
    **dict.fromkeys(("second", "seconds", "sec", "secs"), 1),
}
_PART = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,4})?)\s*([a-z]+)[\s,]*")
LONGEST = 2**31 - 1


def parse_duration(text: str) -> int | None:
    """Return the seconds of a duration, negative after a minus sign, or None if the text is not a duration.

    Each unit may occur once: ``1h1h`` is more likely a mistake than two hours.
    """
    rest = text.strip().lower()
    sign = -1 if rest.startswith("-") else 1
    rest = rest.removeprefix("-").removeprefix("+").strip()
    total, seen = 0.0, set()
    while rest:
        part = _PART.match(rest)
        seconds = _WORDS.get(part[2]) if part else None
        if part is None or seconds is None or seconds in seen:
            return None
        seen.add(seconds)
        total += float(part[1]) * seconds
        rest = rest[part.end() :]
    return sign * round(total) if seen and total <= LONGEST else None


def format_duration(seconds: int) -> str | None:
    """Return a duration in the same notation, or None for 0 seconds."""
    if seconds == 0:
        return None
    left, parts = abs(seconds), []
    for unit, size in _UNITS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return ("-" if seconds < 0 else "") + " ".join(parts)
