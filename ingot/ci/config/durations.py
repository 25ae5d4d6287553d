"""Durations in CI files, such as ``1 week 2 days``, ``3h 15m`` or ``never``."""

import re

_SECONDS = {
    "second": 1, "sec": 1, "s": 1,
    "minute": 60, "min": 60, "m": 60,
    "hour": 3600, "hr": 3600, "h": 3600,
    "day": 86_400, "dy": 86_400, "d": 86_400,
    "week": 604_800, "wk": 604_800, "w": 604_800,
    "month": 2_592_000, "mo": 2_592_000, "mon": 2_592_000,
    "year": 31_557_600, "yr": 31_557_600, "y": 31_557_600,
}  # fmt: skip
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)(?:,|\s|and\b)*")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})")
MAX_SECONDS = 100 * 31_557_600


def parse_duration(value: str | int) -> int | None:
    """Return the seconds of a duration; a number without a unit counts seconds. Return None if it is invalid."""
    text = str(value).strip().lower()
    if not text or len(text) > 200:
        return None
    if text.isdecimal():
        return _limited(int(text[:12]))
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        return _limited(int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + int(clock[3]))
    total, end = 0.0, 0
    while end < len(text):
        part = _PART.match(text, end)
        if part is None:
            return None
        unit = _SECONDS.get(part[2]) or _SECONDS.get(part[2].removesuffix("s"))
        if unit is None:
            return None
        total += float(part[1][:15]) * unit
        end = part.end()
    return _limited(int(total))


def _limited(seconds: int) -> int | None:
    return seconds if seconds <= MAX_SECONDS else None
