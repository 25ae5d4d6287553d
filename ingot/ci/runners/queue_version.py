"""Version of the queue of pending jobs, by which a poll of a runner is answered without searching the queue.

The version is a row that changes in every transaction which adds a pending job or edits a runner. Every web worker
caches it and is woken when it changes.
"""

from sqlalchemy import select, update

from ingot.ci.runners.tables import ci_queue_version
from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import wake_workers

_ROW = 1
_VERSION = select(ci_queue_version.c.version).where(ci_queue_version.c.id == _ROW)
_INCREMENT = (
    update(ci_queue_version).where(ci_queue_version.c.id == _ROW).values(version=ci_queue_version.c.version + 1)
)


def queue_version(db: Connection) -> int:
    """Return the version of the queue; 0 if it has never changed."""
    return db.value(_VERSION) or 0


def announce_queue_change(db: Connection) -> None:
    """Change the version and wake waiting runners when the transaction commits.

    Call it when a runner may get a job that it could not get before: a job is pending, or a runner was edited.
    """
    db.before_commit("ci queue version", _increment)


def _increment(db: Connection) -> None:
    if db.run_counted(_INCREMENT) == 0:
        db.insert(ci_queue_version, id=_ROW, version=1)
    wake_workers(db)
