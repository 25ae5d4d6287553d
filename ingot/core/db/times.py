"""Points in time as they are stored and shown: UTC text with milliseconds, which sorts by time."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import NewType

Timestamp = NewType("Timestamp", str)
"""``2026-01-31T08:15:00.000Z``."""

Date = NewType("Date", str)
"""``2026-01-31``."""

_FIRST, _LAST = Timestamp("0001-01-01T00:00:00.000Z"), Timestamp("9999-12-31T23:59:59.999Z")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def timestamp(moment: datetime) -> Timestamp:
    """Format an aware moment."""
    moment = moment.astimezone(UTC)
    # The year by itself, because ``%Y`` does not pad those before 1000 and would break the order.
    return Timestamp(f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z")


def to_datetime(stamp: Timestamp) -> datetime:
    """Read a stored point in time back."""
    return datetime.fromisoformat(stamp)


def add_duration(stamp: Timestamp, **delta: float) -> Timestamp:
    """The point in time that lies ``delta`` (as for ``timedelta``) after ``stamp``; the calendar's ends bound it."""
    try:
        return timestamp(to_datetime(stamp) + timedelta(**delta))
    except OverflowError:
        return _LAST if sum(delta.values()) > 0 else _FIRST


def day_of(stamp: Timestamp) -> Date:
    """The UTC day of a point in time."""
    return Date(stamp[:10])


def parse_timestamp(text: str) -> Timestamp:
    """Read what a caller wrote, a date or an ISO 8601 time; without an offset it is UTC."""
    text = text.strip().replace(" ", "T", 1)
    if _DATE.fullmatch(text):
        return Timestamp(parse_date(text) + "T00:00:00.000Z")
    parsed = datetime.fromisoformat(text)
    try:
        return timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
    except OverflowError as error:
        raise ValueError(text) from error


def parse_date(text: str) -> Date:
    """Read what a caller wrote as a day; a time behind it is dropped."""
    text = text.strip()
    short = _DATE.match(text)
    if short is None or (len(text) > short.end() and text[short.end()] not in "T "):
        raise ValueError(text)
    if len(text) > short.end():
        parse_timestamp(text)
    return Date(date(*map(int, short.groups())).isoformat())
