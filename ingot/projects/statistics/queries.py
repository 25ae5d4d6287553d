"""Queries of the fetches of projects."""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, add_duration, day_of
from ingot.projects.projects.tables import Project
from ingot.projects.statistics.tables import DailyFetches, daily_fetches

COUNTED_DAYS = 30
_OF_PROJECT = (
    select(daily_fetches)
    .where(daily_fetches.c.project_id == bindparam("project"), daily_fetches.c.day >= bindparam("first"))
    .order_by(daily_fetches.c.day.desc())
)


def first_counted_day(db: Connection) -> Date:
    """Return the first of the last 30 days, which end today."""
    return day_of(add_duration(db.now, days=1 - COUNTED_DAYS))


def list_fetches(db: Connection, project: Project) -> list[DailyFetches]:
    """Return the days of the last 30 on which a project was fetched, the newest first."""
    return db.all(DailyFetches, _OF_PROJECT, project=project.id, first=first_counted_day(db))
