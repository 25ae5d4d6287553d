"""State changes of freeze periods."""

from typing import Any
from zoneinfo import ZoneInfo

from ingot.ci.cron.expressions import InvalidCron, next_occurrence
from ingot.ci.cron.time_zones import time_zone_or_none
from ingot.ci.freeze_periods.params import CreateFreezePeriod, EditFreezePeriod
from ingot.ci.freeze_periods.queries import count_freeze_periods, find_freeze_period
from ingot.ci.freeze_periods.tables import FreezePeriod, freeze_periods
from ingot.core.api.params import given_fields
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.core.errors import Invalid
from ingot.projects.projects.tables import Project

MAX_PERIODS = 100
"""Freeze periods of a project; each job evaluates all of them."""
_UTC = ZoneInfo("Etc/UTC")


def create_freeze_period(db: Connection, project: Project, params: CreateFreezePeriod) -> FreezePeriod:
    """Create a freeze period; raise Invalid for invalid expressions."""
    columns = _checked(db, given_fields(params))
    if count_freeze_periods(db, project.id) >= MAX_PERIODS:
        raise Invalid(base=[f"Maximum number of freeze periods ({MAX_PERIODS}) exceeded"])
    row_id = db.insert(freeze_periods, **columns, project_id=project.id, created_at=db.now, updated_at=db.now)
    return find_freeze_period(db, project.id, row_id)


def edit_freeze_period(db: Connection, period: FreezePeriod, params: EditFreezePeriod) -> FreezePeriod:
    """Change the given fields; raise Invalid for invalid expressions."""
    names = ("freeze_start", "freeze_end", "cron_timezone")
    columns = _checked(db, {name: getattr(period, name) for name in names} | given_fields(params))
    db.update(freeze_periods, period.id, **columns, updated_at=db.now)
    return find_freeze_period(db, period.project_id, period.id)


def delete_freeze_period(db: Connection, period: FreezePeriod) -> None:
    """Delete a freeze period."""
    db.delete(freeze_periods, period.id)


def _checked(db: Connection, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns without surrounding spaces; raise Invalid with the errors of each field."""
    columns = {name: value.strip() for name, value in columns.items()}
    errors: dict[str, list[str]] = {}
    zone = time_zone_or_none(columns["cron_timezone"])
    if zone is None:
        errors["cron_timezone"] = ["is invalid syntax"]
    for name in ("freeze_start", "freeze_end"):
        if not columns[name]:
            errors[name] = ["can't be blank"]
            continue
        try:
            next_occurrence(columns[name], zone or _UTC, to_datetime(db.now))
        except InvalidCron:
            errors[name] = ["is invalid syntax"]
    if errors:
        raise Invalid(**errors)
    return columns
