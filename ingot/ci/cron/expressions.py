"""Cron expressions with time zones."""

from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_FIELDS = 5
_MAX_LENGTH = 255
_MAX_STEPS = 4
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


class InvalidCron(Exception):
    """An expression that is malformed or never matches."""


def next_occurrence(expression: str, zone: ZoneInfo, after: datetime) -> datetime:
    """Return the first moment after another one that the expression names in a time zone; raise InvalidCron.

    When clocks are set forward, a fixed time in the skipped hour happens once, right afterwards. When they are set
    back, a fixed time in the repeated hour happens once.
    """
    try:
        occurrences = CronSim(_fields(expression), after.astimezone(zone))
        for _ in range(_MAX_STEPS):
            occurrence = next(occurrences)
            # Within a repeated hour, the first answer may be the time in its first half, which has passed.
            if occurrence.astimezone(after.tzinfo) > after:
                return occurrence
    except (CronSimError, StopIteration, OverflowError, ValueError) as error:
        raise InvalidCron(expression) from error
    raise InvalidCron(expression)


def previous_occurrence(expression: str, zone: ZoneInfo, until: datetime) -> datetime:
    """Return the last moment up to another one that the expression names in a time zone; raise InvalidCron."""
    # The library looks for moments before the given one, in whole seconds.
    before = until.replace(microsecond=0) + timedelta(seconds=1)
    try:
        occurrences = CronSim(_fields(expression), before.astimezone(zone), reverse=True)
        return next(occurrence for occurrence in islice(occurrences, _MAX_STEPS) if occurrence <= until)
    except (CronSimError, StopIteration, OverflowError, ValueError) as error:
        raise InvalidCron(expression) from error


def _fields(expression: str) -> str:
    fields = _ALIASES.get(expression.strip().lower(), expression)
    if len(fields) > _MAX_LENGTH or len(fields.split()) != _FIELDS:
        raise InvalidCron(expression)
    return fields
