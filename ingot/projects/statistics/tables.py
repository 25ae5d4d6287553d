"""Table and record of the fetches of projects."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Date

daily_fetches = Table(
    "daily_fetches",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("day"),
    number("count"),
    UniqueConstraint("project_id", "day"),
    sqlite_autoincrement=True,
)


class DailyFetches(Record, frozen=True):
    """Number of clones and fetches of a project over HTTP on one day, in UTC."""

    id: int
    project_id: int
    day: Date
    count: int
