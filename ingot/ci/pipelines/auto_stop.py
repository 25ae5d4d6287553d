"""Automatic stop of environments whose time has come (``environment:auto_stop_in``)."""

from functools import partial
from typing import Any

from ingot.accounts.users.actors import active_actor
from ingot.ci.pipelines.due_environments import due_environments
from ingot.ci.pipelines.subscribers import deploying_job
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.projects.environments.service import stop_environment
from ingot.projects.environments.tables import environments
from ingot.projects.projects.queries import project_or_none


def stop_due_environments(database: Database, payload: Any) -> None:  # noqa: ARG001 - Every handler takes a payload.
    """Stop environments whose time has come, each in a transaction of its own."""
    for environment in database.read(due_environments):
        database.write(partial(_stop, environment_id=environment.id))


def _stop(db: Connection, environment_id: int) -> None:
    """Stop an environment unless it was deployed to again; the user of the last deployment runs the job for it."""
    environment = next((each for each in due_environments(db) if each.id == environment_id), None)
    project = None if environment is None else project_or_none(db, environment.project_id)
    if environment is None or project is None:
        return
    job = deploying_job(db, environment.id)
    actor = None if job is None or job.user_id is None else active_actor(db, job.user_id)
    if actor is not None and not project.archived:
        stop_environment(db, actor, project, environment)
    else:
        db.update(environments, environment.id, state="stopped", auto_stop_at=None, updated_at=db.now)
