"""Deleted projects whose files and rows have not been removed yet."""

from typing import NamedTuple

from sqlalchemy import Text, bindparam, cast, func, literal, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.jobs.tables import jobs
from ingot.projects.projects.tables import projects

REMOVAL_KEY = "remove "
_MAX_PATHS = 10
# A deleted project has no namespace and keeps its path. There are few at a time, so a scan is cheap.
_PENDING = (
    projects.c.namespace_id.is_(None),
    projects.c.updated_at >= bindparam("since"),
    func.substr(projects.c.full_path + "/", 1, func.length(bindparam("path"))) == bindparam("path"),
)
_COUNT = select(func.count()).where(*_PENDING)
_PATHS = select(projects.c.full_path).where(*_PENDING).order_by(projects.c.id).limit(_MAX_PATHS)
_STUCK = (
    select(projects.c.id)
    .join(jobs, jobs.c.unique_key == literal(REMOVAL_KEY) + cast(projects.c.id, Text))
    .where(*_PENDING, jobs.c.state == "dead")
    .limit(1)
)


class PendingRemovals(NamedTuple):
    """Deleted projects whose repository, files and rows still exist."""

    number: int
    paths: list[str]
    """Paths of at most ten of them."""
    stuck: bool
    """Whether a removal job has failed permanently."""


def pending_removals(db: Connection, full_path: str, since: Timestamp) -> PendingRemovals:
    """Return the pending removals of projects that were deleted at or below a path since a time."""
    values = {"path": f"{full_path}/", "since": since}
    count: int = db.value(_COUNT, **values)
    if count == 0:
        return PendingRemovals(0, [], False)
    return PendingRemovals(
        count, [path for (path,) in db.rows(_PATHS, **values)], db.value(_STUCK, **values) is not None
    )
