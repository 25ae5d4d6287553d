"""Template filters that format times, sizes, numbers and URLs."""

import json
from typing import Any
from urllib.parse import urlencode, urlsplit
from zlib import crc32
from zoneinfo import ZoneInfo

from ingot.core.db.times import Timestamp, to_datetime

_DAY = 86_400
_STEPS = (
    (60, "minute"),
    (3600, "hour"),
    (_DAY, "day"),
    (7 * _DAY, "week"),
    (30 * _DAY, "month"),
    (365 * _DAY, "year"),
)
_STEPS_FROM_LONGEST = tuple(reversed(_STEPS))
_HUES = 12
_SHORT_COLOR_LENGTH = 3
_MIDDLE_LUMINANCE = 0.179
"""Luminance at which black and white have equal contrast."""
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def ago(stamp: str, now: Timestamp) -> str:
    """Format the time between ``stamp`` and ``now`` as a relative time ("3 days ago", "in 2 hours")."""
    pattern, number = relative_time(stamp, now)
    return pattern.format(number)


def relative_time(stamp: str, now: Timestamp) -> tuple[str, int]:
    """Return a relative time as a pattern such as "{} days ago", which can be translated, and its number."""
    seconds = (to_datetime(now) - to_datetime(Timestamp(stamp))).total_seconds()
    past, seconds = seconds >= 0, abs(seconds)
    if seconds < _STEPS[0][0]:
        return ("just now" if past else "in less than a minute"), 0
    for length, unit in _STEPS_FROM_LONGEST:  # noqa: B007 - Used after the loop.
        if seconds >= length:
            break
    number = int(seconds // length)
    text = f"{{}} {unit}{'s' * (number != 1)}"
    return (f"{text} ago" if past else f"in {text}"), number


def exact_time(stamp: str, zone_info: ZoneInfo | None = None) -> str:
    """Format a time to the minute, for the tooltip of a relative time; in its own zone or the given one."""
    if zone_info is not None:
        return to_datetime(Timestamp(stamp)).astimezone(zone_info).strftime("%Y-%m-%d %H:%M %Z")
    zone = "UTC" if stamp.endswith(("Z", "+00:00")) else stamp[-6:]
    return f"{stamp[:10]} {stamp[11:16]} {zone}"


def size(number: int) -> str:
    """Format a number of bytes in the largest suitable unit."""
    amount, unit = float(number), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 or amount >= 100 else f"{amount:.1f} {_UNITS[unit]}"


def in_larger_unit(number: int, unit: str) -> tuple[int, str]:
    """Return a time in the largest unit in which its number is whole: 10,080 minutes are 7 days."""
    lengths = {"second": 1, "minute": 60, "hour": 3600, "day": _DAY}
    if unit not in lengths or not number:
        return number, unit
    seconds = number * lengths[unit]
    larger = [each for each, length in lengths.items() if length >= lengths[unit] and seconds % length == 0][-1]
    return seconds // lengths[larger], larger


def count(number: int | None, one: str, several: str = "") -> str:
    """Format a number with its noun in singular or plural; None means too many to count."""
    if number is None:
        return f"many {several or one + 's'}"
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def duration(seconds: float) -> str:
    """Format a duration with its two largest units ("2 min 5 s")."""
    whole = int(seconds)
    for length, unit, rest_length, rest_unit in (
        (_DAY, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= length:
            rest = whole % length // rest_length
            return f"{whole // length} {unit}" + (f" {rest} {rest_unit}" if rest else "")
    return f"{whole} s"


def tone(color: str) -> str:
    """Return "bright" if black text is more readable on a color, otherwise "dim"."""
    digits = color.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == _SHORT_COLOR_LENGTH else digits
    red, green, blue = (_luminance(int(digits[index : index + 2], 16) / 255) for index in (0, 2, 4))
    return "bright" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > _MIDDLE_LUMINANCE else "dim"


def _luminance(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def initials(name: str) -> str:
    """Return the initials of a name, shown when a user has no avatar."""
    words = name.split()
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper() or "?"


def hue(name: str) -> int:
    """Return the number of the hue that shows a name's initials; equal names have equal hues."""
    return crc32(name.encode()) % _HUES


def local_url(url: str) -> str:
    """Strip scheme and host from one of this instance's URLs, since it may be reached by another host name."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")


def with_query(query: dict[str, Any], **changes: Any) -> str:
    """Return the query string with some parameters changed; empty values are removed."""
    whole = {name: value for name, value in {**query, **changes}.items() if value not in (None, "", [])}
    flat = [
        (f"{name}[]", str(item)) if isinstance(value, list) else (name, str(value))
        for name, value in whole.items()
        for item in (value if isinstance(value, list) else [value])
        if not isinstance(value, dict)
    ]
    return "?" + urlencode(flat)


def pretty_json(data: Any) -> str:
    """Format a payload as indented JSON."""
    return json.dumps(data, indent=2, ensure_ascii=False)
