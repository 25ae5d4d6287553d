"""Removal of what a test file leaves in the shared instance and what would affect every other project."""

from sqlalchemy import ColumnElement, Table, delete, select

from ingot.accounts.instance.tables import broadcast_messages
from ingot.ci.job_records.queries import jobs_by_ids
from ingot.ci.job_records.tables import ci_queue
from ingot.ci.pipelines.service import cancel_job
from ingot.ci.runners.queries import runner_or_none
from ingot.ci.runners.service import delete_runner
from ingot.ci.runners.tables import runners
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.tables import jobs
from ingot.notifications.tables import notification_settings
from ingot.webhooks.queries import SYSTEM
from ingot.webhooks.tables import hooks


def remove_leftovers(database: Database) -> None:
    """Cancel pending CI jobs, and delete all runners, system hooks, broadcast messages and queued background jobs.

    The next file that runs the queue would otherwise run the background jobs of all files before it. Every page shows
    the broadcast messages, and who watches everything makes each change look for its recipients.
    """
    if database.read(_has_leftovers):
        database.write(_remove)


def _ids(db: Connection, table: Table, condition: ColumnElement[bool] | None = None) -> list[int]:
    key = table.primary_key.columns[0]
    return [row[0] for row in db.rows(select(key) if condition is None else select(key).where(condition))]


def _has_leftovers(db: Connection) -> bool:
    left = (_ids(db, table) for table in (ci_queue, runners, jobs, broadcast_messages, notification_settings))
    return bool(_ids(db, hooks, SYSTEM) or any(left))


def _remove(db: Connection) -> None:
    # A canceled job may let jobs of a later stage start.
    while job_ids := _ids(db, ci_queue):
        for job in jobs_by_ids(db, job_ids):
            cancel_job(db, job)
    for runner_id in _ids(db, runners):
        if runner := runner_or_none(db, runner_id):
            delete_runner(db, runner)
    for hook_id in _ids(db, hooks, SYSTEM):
        db.delete(hooks, hook_id)
    for table in (jobs, broadcast_messages, notification_settings):
        db.run(delete(table))
