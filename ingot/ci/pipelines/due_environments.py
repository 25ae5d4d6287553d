"""Search of environments that are to be stopped.

It runs every minute, also on servers without CI, and so imports nothing of the processing of pipelines.
"""

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import enqueue
from ingot.projects.environments.tables import Environment, environments

STOP_ENVIRONMENTS = "stop_environments"
_BATCH = 500
_DUE = (
    select(environments)
    .where(
        environments.c.auto_stop_at.is_not(None),
        environments.c.auto_stop_at <= bindparam("now"),
        environments.c.state == "available",
    )
    .order_by(environments.c.auto_stop_at)
    .limit(_BATCH)
)


def due_environments(db: Connection) -> list[Environment]:
    """Return environments whose time has come."""
    return db.all(Environment, _DUE, now=db.now)


def enqueue_environment_stops(db: Connection) -> None:
    """Enqueue the stop of environments, if the time of any has come."""
    if due_environments(db):
        enqueue(db, STOP_ENVIRONMENTS, None, unique_key=STOP_ENVIRONMENTS)
