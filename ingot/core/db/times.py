"""Timestamps as they are stored and shown: UTC text with milliseconds, which sorts by time."""

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
    """Format a timezone-aware datetime."""
    moment = moment.astimezone(UTC)
    # The year is formatted separately, because ``%Y`` does not pad years before 1000, which would break the order.
    return Timestamp(f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z")


def to_datetime(stamp: Timestamp) -> datetime:
    """Parse a stored timestamp."""
    return datetime.fromisoformat(stamp)


def add_duration(stamp: Timestamp, **delta: float) -> Timestamp:
    """Return ``stamp`` plus ``delta`` (as for ``timedelta``), limited to the range of the calendar."""
    try:
        return timestamp(to_datetime(stamp) + timedelta(**delta))
    except OverflowError:
        return _LAST if sum(delta.values()) > 0 else _FIRST


def day_of(stamp: Timestamp) -> Date:
    """Return the UTC date of a timestamp."""
    return Date(stamp[:10])


def parse_timestamp(text: str) -> Timestamp:
    """Parse a date or an ISO 8601 time from a request; without an offset it is UTC. Raise ``ValueError``."""
    text = text.strip().replace(" ", "T", 1)
    if _DATE.fullmatch(text):
        return Timestamp(parse_date(text) + "T00:00:00.000Z")
    parsed = datetime.fromisoformat(text)
    try:
        return timestamp(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
    except OverflowError as error:
        raise ValueError(text) from error


def parse_date(text: str) -> Date:
    """Parse a date from a request; a time after it is dropped. Raise ``ValueError``."""
    text = text.strip()
    match = _DATE.match(text)
    if match is None or (len(text) > match.end() and text[match.end()] not in "T "):
        raise ValueError(text)
    if len(text) > match.end():
        parse_timestamp(text)
    return Date(date(*map(int, match.groups())).isoformat())
