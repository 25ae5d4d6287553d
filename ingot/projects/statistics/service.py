"""State changes of the fetches of projects."""

from collections.abc import Mapping

from sqlalchemy import bindparam, delete
from sqlalchemy import text as sql

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Date
from ingot.projects.statistics.queries import first_counted_day
from ingot.projects.statistics.tables import daily_fetches

# A project that was deleted meanwhile has no row to refer to.
_ADD = sql(
    "INSERT INTO daily_fetches (project_id, day, count) "
    "SELECT id, CAST(:day AS TEXT), CAST(:added AS INTEGER) FROM projects WHERE id = :project "
    "ON CONFLICT (project_id, day) DO UPDATE SET count = daily_fetches.count + excluded.count"
)
_DELETE_OLD = delete(daily_fetches).where(
    in_list(daily_fetches.c.project_id, "projects"), daily_fetches.c.day < bindparam("first")
)


def add_fetches(db: Connection, counts: Mapping[tuple[int, Date], int]) -> None:
    """Add numbers of fetches by project and day, and delete those of the projects that are too old to be shown."""
    # Concurrent transactions lock the rows in the same order.
    for (project_id, day), count in sorted(counts.items()):
        db.run(_ADD, project=project_id, day=day, added=count)
    db.run(_DELETE_OLD, projects=sorted({project_id for project_id, _ in counts}), first=first_counted_day(db))
