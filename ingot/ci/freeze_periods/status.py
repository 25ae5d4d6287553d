"""Whether a freeze is in force, as jobs and pages need it."""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from ingot.ci.cron.expressions import InvalidCron, next_occurrence, previous_occurrence
from ingot.ci.cron.time_zones import time_zone_or_none
from ingot.ci.freeze_periods.queries import all_freeze_periods
from ingot.ci.freeze_periods.tables import FreezePeriod
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime

_UTC = ZoneInfo("Etc/UTC")


def freeze_variables(db: Connection, project_id: int) -> list[tuple[str, str]]:
    """Return the variable of jobs that says that a freeze is in force; it is absent otherwise."""
    return [("CI_DEPLOY_FREEZE", "true")] if is_frozen(db, project_id) else []


def is_frozen(db: Connection, project_id: int) -> bool:
    """Return whether any freeze period of a project is in force."""
    return any_in_force(all_freeze_periods(db, project_id), to_datetime(db.now))


def any_in_force(periods: Iterable[FreezePeriod], now: datetime) -> bool:
    """Return whether any of these freeze periods is in force at a moment."""
    minute = now.replace(second=0, microsecond=0)
    return any(_in_force(each.freeze_start, each.freeze_end, each.cron_timezone, minute) for each in periods)


@lru_cache(maxsize=256)
def _in_force(start: str, end: str, timezone: str, minute: datetime) -> bool:
    """Return whether the last start has no end yet; expressions name whole minutes, and an end still belongs to it."""
    zone = time_zone_or_none(timezone) or _UTC
    try:
        return minute <= next_occurrence(end, zone, previous_occurrence(start, zone, minute))
    except InvalidCron:  # An expression such as February 29 may name no moment within reach.
        return False
