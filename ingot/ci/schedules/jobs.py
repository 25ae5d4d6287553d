"""Background jobs of pipeline schedules.

A job waits for each next run. It claims the run and adds a second job in the same transaction, which creates the
pipeline, so that every occurrence leads to exactly one pipeline, also if a process crashes between the two.
"""

from functools import partial
from typing import Any

import msgspec

from ingot.ci.pipelines.ref_protection import runner_of_pipeline
from ingot.ci.schedules.queries import overdue_schedules, schedule_by_id_or_none
from ingot.ci.schedules.service import ScheduledRun, claim_run, deactivate_schedule, plan_overdue_run
from ingot.ci.schedules.start import create_scheduled_pipeline, scheduled_ref_or_none
from ingot.ci.schedules.tables import PipelineSchedule
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.log import log_failure
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project

CREATE_SCHEDULED_PIPELINE = "create_scheduled_pipeline"
OVERDUE_SECONDS = 120
MAX_OVERDUE = 100


def run_schedule(database: Database, payload: Any) -> None:
    """Claim one run of a schedule and add the job that creates its pipeline."""
    database.write(partial(_claim, run=msgspec.convert(payload, ScheduledRun)))


def enqueue_overdue_schedules(db: Connection) -> None:
    """Add jobs for schedules whose run is overdue; they normally exist already."""
    for schedule in overdue_schedules(db, add_duration(db.now, seconds=-OVERDUE_SECONDS), MAX_OVERDUE):
        plan_overdue_run(db, schedule)


class ScheduleJobs:
    """Jobs that need the repositories."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def create(self, database: Database, payload: Any) -> None:
        """Create the pipeline of a claimed run; a job that runs twice creates one."""
        run = msgspec.convert(payload, ScheduledRun)
        subject = database.read(partial(_runnable, run=run))
        if subject is None:
            database.write(partial(_deactivate, run=run))
            return
        project, schedule, owner_id = subject
        ref = scheduled_ref_or_none(self._store, project, schedule.ref)
        if ref is not None:
            create_scheduled_pipeline(
                database, self._store, project, schedule, ref, user_id=owner_id, occurrence=run.due
            )


def _claim(db: Connection, run: ScheduledRun) -> None:
    schedule = schedule_by_id_or_none(db, run.schedule_id)
    if schedule is None or schedule.next_run_at != run.due:
        return
    try:
        claimed = claim_run(db, schedule, run)
    except Invalid as error:  # A time zone may disappear with an update of the system.
        log_failure("schedule became invalid", error, schedule=schedule.id)
        deactivate_schedule(db, schedule)
        return
    if claimed:
        enqueue(db, CREATE_SCHEDULED_PIPELINE, run)


def _runnable(db: Connection, run: ScheduledRun) -> tuple[Project, PipelineSchedule, int] | None:
    """Return the project, the schedule and its owner; None if the owner may not run pipelines."""
    schedule = schedule_by_id_or_none(db, run.schedule_id)
    project = project_or_none(db, schedule.project_id) if schedule is not None else None
    if schedule is None or schedule.owner_id is None or project is None or project.namespace_id is None:
        return None
    if runner_of_pipeline(db, schedule.owner_id, project) is None:
        return None
    return project, schedule, schedule.owner_id


def _deactivate(db: Connection, run: ScheduledRun) -> None:
    schedule = schedule_by_id_or_none(db, run.schedule_id)
    if schedule is not None:
        deactivate_schedule(db, schedule)
