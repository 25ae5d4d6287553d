"""Days as people write them: ``2030-01-31``, ``tomorrow``, ``in 2 weeks``, ``next friday``, ``December 31st``."""

import re
from calendar import monthrange
from datetime import date, timedelta

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
_MAX_LENGTH = 50


def parse_day(text: str, today: date) -> date | None:
    """The day that is meant; one of a month without its year is the next to come."""
    said = " ".join(text.lower().split())
    if len(said) > _MAX_LENGTH or not said.isascii():
        return None
    try:
        return _iso_day(said) or _relative_day(said, today) or _weekday(said, today) or _day_of_month(said, today)
    except (ValueError, OverflowError):  # No calendar has that day.
        return None


def _iso_day(said: str) -> date | None:
    return date.fromisoformat(said) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", said) else None


def _relative_day(said: str, today: date) -> date | None:
    if said in _WORDS:
        return today + timedelta(days=_WORDS[said])
    if said in ("next month", "next year"):
        return _months_later(today, 1 if said == "next month" else 12)
    found = _DISTANCE.fullmatch(said)
    if found is None:
        return None
    count = 1 if found[1].startswith("a") else int(found[1])
    if found[2] in _UNITS:
        return today + timedelta(days=count * _UNITS[found[2]])
    return _months_later(today, count * (1 if found[2] == "month" else 12))


def _weekday(said: str, today: date) -> date | None:
    found = _WEEKDAY.fullmatch(said)
    if found is None:
        return None
    wanted = next(place for place, name in enumerate(_WEEKDAYS) if name.startswith(found[2][:3]))
    # Never today: whoever means that says so.
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _day_of_month(said: str, today: date) -> date | None:
    found, day_first = _MONTH_FIRST.fullmatch(said), False
    if found is None:
        found, day_first = _DAY_FIRST.fullmatch(said), True
    if found is None:
        return None
    name, number = (found[2], found[1]) if day_first else (found[1], found[2])
    month = next(place for place, one in enumerate(_MONTHS, 1) if one.startswith(name[:3]))
    if found[3]:
        return date(int(found[3]), month, int(number))
    meant = date(today.year, month, int(number))
    return meant if meant >= today else date(today.year + 1, month, int(number))


def _months_later(today: date, months: int) -> date:
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))
