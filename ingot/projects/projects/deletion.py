"""What is left of projects that were deleted, until a job has removed it."""

from typing import NamedTuple

from sqlalchemy import Text, bindparam, cast, func, literal, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.jobs.tables import jobs
from ingot.projects.projects.tables import projects

REMOVAL_KEY = "remove "
_MAX_PATHS = 10
# Who was deleted has no namespace, and keeps the path that it had. There are few of them at any time.
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
    """Projects whose repository, files and rows are still there."""

    number: int
    paths: list[str]
    """Some of them."""
    stuck: bool
    """Whether the queue gave one of them up."""


def pending_removals(db: Connection, full_path: str, since: Timestamp) -> PendingRemovals:
    """What was deleted at a path or below it, from that moment on, and is not gone yet."""
    asked = {"path": f"{full_path}/", "since": since}
    count: int = db.value(_COUNT, **asked)
    if count == 0:
        return PendingRemovals(0, [], False)
    return PendingRemovals(count, [path for (path,) in db.rows(_PATHS, **asked)], db.value(_STUCK, **asked) is not None)
