"""Background job that deletes stopped environments whose time has come."""

from functools import partial
from typing import Any

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.projects.environments.service import delete_environment
from ingot.projects.environments.tables import Environment, environments

DELETE_ENVIRONMENTS = "delete_environments"
_BATCH = 500
_DUE = (
    select(environments)
    .where(
        environments.c.auto_delete_at.is_not(None),
        environments.c.auto_delete_at <= bindparam("now"),
        environments.c.state == "stopped",
    )
    .order_by(environments.c.auto_delete_at)
    .limit(_BATCH)
)
_DUE_BY_ID = _DUE.where(environments.c.id == bindparam("environment"))


def enqueue_environment_deletion(db: Connection) -> None:
    """Enqueue the deletion of environments, if the time of any has come."""
    if _due_environments(db):
        enqueue(db, DELETE_ENVIRONMENTS, None, unique_key=DELETE_ENVIRONMENTS)


def delete_due_environments(database: Database, payload: Any) -> None:  # noqa: ARG001 - Every handler takes a payload.
    """Delete stopped environments whose time has come, each in a transaction of its own."""
    for environment in database.read(_due_environments):
        database.write(partial(_delete, environment_id=environment.id))


def _delete(db: Connection, environment_id: int) -> None:
    """Delete an environment unless it was deployed to again."""
    environment = db.first(Environment, _DUE_BY_ID, now=db.now, environment=environment_id)
    if environment is not None:
        delete_environment(db, environment)


def _due_environments(db: Connection) -> list[Environment]:
    return db.all(Environment, _DUE, now=db.now)
