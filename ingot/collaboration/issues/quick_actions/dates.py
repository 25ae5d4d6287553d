"""Parser of dates: ``2030-01-31``, ``tomorrow``, ``in 2 weeks``, ``next friday``, ``December 31st``."""

import re
from calendar import monthrange
from datetime import date, timedelta

from ingot.core.db.times import Timestamp, day_of, parse_timestamp

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WORDS = {"today": 0, "tomorrow": 1, "yesterday": -1, "next week": 7}
_UNITS = {"day": 1, "week": 7}
_DISTANCE = re.compile(r"(?:in )?(\d{1,4}|an?) (day|week|month|year)s?(?: from now)?")
_WEEKDAY = re.compile(rf"(?:(this|next) )?({'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _WEEKDAYS)})")
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH_FIRST = re.compile(rf"({_MONTH}) {_DAY}(?:,? (\d{{4}}))?")
_DAY_FIRST = re.compile(rf"{_DAY} ({_MONTH})(?:,? (\d{{4}}))?")
_MOMENT = re.compile(r"(?:(\d{4}-\d{2}-\d{2}) +)?(\d{1,2}:\d{2})", re.ASCII)
_MAX_LENGTH = 50


def parse_day(text: str, today: date) -> date | None:
    """Return the date that a text names, or None; a day without a year is the next one."""
    phrase = " ".join(text.lower().split())
    if len(phrase) > _MAX_LENGTH or not phrase.isascii():
        return None
    try:
        return (
            _iso_day(phrase) or _relative_day(phrase, today) or _weekday(phrase, today) or _day_of_month(phrase, today)
        )
    except (ValueError, OverflowError):  # Not a day of the calendar.
        return None


def parse_moment(text: str, now: Timestamp) -> Timestamp | None:
    """Return the time that a text such as ``2030-01-31 14:30`` or ``14:30`` names in UTC, by default now; or None."""
    if not text:
        return now
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    try:
        return parse_timestamp(f"{match[1] or day_of(now)}T{match[2].zfill(5)}:00Z")
    except ValueError:  # Not a day of the calendar, or not a time of the day.
        return None


def _iso_day(phrase: str) -> date | None:
    return date.fromisoformat(phrase) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", phrase) else None


def _relative_day(phrase: str, today: date) -> date | None:
    if phrase in _WORDS:
        return today + timedelta(days=_WORDS[phrase])
    if phrase in ("next month", "next year"):
        return _months_later(today, 1 if phrase == "next month" else 12)
    match = _DISTANCE.fullmatch(phrase)
    if match is None:
        return None
    count = 1 if match[1].startswith("a") else int(match[1])
    if match[2] in _UNITS:
        return today + timedelta(days=count * _UNITS[match[2]])
    return _months_later(today, count * (1 if match[2] == "month" else 12))


def _weekday(phrase: str, today: date) -> date | None:
    match = _WEEKDAY.fullmatch(phrase)
    if match is None:
        return None
    weekday = next(index for index, name in enumerate(_WEEKDAYS) if name.startswith(match[2][:3]))
    # The name of today's weekday means the same day of the next week.
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def _day_of_month(phrase: str, today: date) -> date | None:
    match, day_first = _MONTH_FIRST.fullmatch(phrase), False
    if match is None:
        match, day_first = _DAY_FIRST.fullmatch(phrase), True
    if match is None:
        return None
    name, number = (match[2], match[1]) if day_first else (match[1], match[2])
    month = next(index for index, month_name in enumerate(_MONTHS, 1) if month_name.startswith(name[:3]))
    if match[3]:
        return date(int(match[3]), month, int(number))
    day = date(today.year, month, int(number))
    return day if day >= today else date(today.year + 1, month, int(number))


def _months_later(today: date, months: int) -> date:
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))
