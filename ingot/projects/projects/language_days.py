"""Languages of projects by day: recorded by the housekeeping after a push, so that no history is read for a chart."""

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, delete, select
from sqlalchemy import text as sql

from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, add_duration, day_of
from ingot.projects.projects.tables import language_days, projects

SHOWN_DAYS = 2 * 366 + 31
"""Days of the longest chart and of the month before it; older rows are deleted."""
_MAX_LANGUAGES = 20
# The project may have been deleted since the repository was read.
_RECORD = sql(
    "INSERT INTO language_days (project_id, day, shares) "
    "SELECT id, CAST(:day AS TEXT), CAST(:shares AS TEXT) FROM projects WHERE repository_key = :key "
    "ON CONFLICT (project_id, day) DO UPDATE SET shares = excluded.shares"
)
_OF_PROJECT = (
    select(language_days.c.day, language_days.c.shares)
    .where(language_days.c.project_id == bindparam("project"))
    .order_by(language_days.c.day)
)
_DELETE_OLD = delete(language_days).where(
    language_days.c.project_id
    == select(projects.c.id).where(projects.c.repository_key == bindparam("key")).scalar_subquery(),
    language_days.c.day < bindparam("first"),
)


class LanguageDay(NamedTuple):
    """Languages of a day, in percent, largest first."""

    day: Date
    shares: dict[str, float]


def record_languages(db: Connection, repository_key: str, shares: Mapping[str, float]) -> None:
    """Store the languages of a repository for today, and delete the days that no chart shows."""
    largest = dict(islice(shares.items(), _MAX_LANGUAGES))
    db.run(_RECORD, key=repository_key, day=db.today, shares=msgspec.json.encode(largest).decode())
    db.run(_DELETE_OLD, key=repository_key, first=day_of(add_duration(db.now, days=-SHOWN_DAYS)))


def list_language_days(db: Connection, project_id: int) -> list[LanguageDay]:
    """Return the recorded days of a project, oldest first."""
    return [
        LanguageDay(day, msgspec.json.decode(shares, type=dict[str, float]))
        for day, shares in db.rows(_OF_PROJECT, project=project_id)
    ]
