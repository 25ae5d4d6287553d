"""Search of jobs that will not end by themselves.

It runs every minute, also on servers without CI, and so imports nothing of the processing of pipelines.
"""

from sqlalchemy import bindparam, or_, select

from ingot.accounts.users.tables import users
from ingot.ci.job_records.queries import INACTIVE_USER
from ingot.ci.job_records.tables import FailureReason, ci_jobs, ci_queue, ci_running
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.jobs.queue import enqueue
from ingot.core.nodes.tables import nodes
from ingot.pipelines.tables import commit_statuses

DROP_STUCK_JOBS = "drop_stuck_jobs"
STUCK_SEARCH_SECONDS = 60
SILENT_RUNNER_SECONDS = 900
"""Time after which a runner that has not reported about its job counts as dead."""
UNDELIVERED_SECONDS = 120
"""Time after which a job that its runner has never reported about was lost on the way, as in a crash of this server.

Runners report every 30 seconds, even if a job prints nothing.
"""
MAX_QUEUE_HOURS = 24
_BATCH = 500
_OVERDUE = (
    select(ci_running.c.job_id)
    .where(ci_running.c.deadline < bindparam("now"))
    .order_by(ci_running.c.deadline)
    .limit(_BATCH)
)
_SILENT = (
    select(ci_running.c.job_id)
    .join(ci_jobs, ci_jobs.c.id == ci_running.c.job_id)
    .where(or_(ci_jobs.c.contacted_at.is_(None), ci_jobs.c.contacted_at < bindparam("since")))
    .limit(_BATCH)
)
# Taking a job sets both times; the first report of its runner changes one of them.
_UNDELIVERED = (
    select(ci_running.c.job_id)
    .join(ci_jobs, ci_jobs.c.id == ci_running.c.job_id)
    .join(commit_statuses, commit_statuses.c.id == ci_running.c.job_id)
    .where(ci_jobs.c.contacted_at == commit_statuses.c.started_at, ci_jobs.c.contacted_at < bindparam("since"))
    .limit(_BATCH)
)
_OF_INACTIVE_USERS = (
    select(ci_running.c.job_id)
    .join(commit_statuses, commit_statuses.c.id == ci_running.c.job_id)
    .join(users, users.c.id == commit_statuses.c.user_id)
    .where(INACTIVE_USER)
    .limit(_BATCH)
)
_JUST_STARTED = select(nodes.c.id).where(nodes.c.started_at >= bindparam("since")).limit(1)
_UNWANTED = select(ci_queue.c.job_id).where(ci_queue.c.queued_at < bindparam("since")).limit(_BATCH)
_WAITED_FOR = (
    select(ci_jobs.c.project_id, ci_jobs.c.resource_group)
    .select_from(ci_jobs.join(commit_statuses, commit_statuses.c.id == ci_jobs.c.id))
    .where(ci_jobs.c.resource_group.is_not(None), commit_statuses.c.status == "waiting_for_resource")
    .distinct()
)


def enqueue_stuck_job_search(db: Connection) -> None:
    """Enqueue the search of jobs that will not end by themselves, if any job is queued, running or waiting."""
    if stuck_jobs(db) or undelivered_jobs(db) or awaited_resources(db):
        enqueue(db, DROP_STUCK_JOBS, None, unique_key=DROP_STUCK_JOBS)


def undelivered_jobs(db: Connection) -> list[int]:
    """Return the running jobs that their runners have never reported about."""
    if not _have_runners_had_time(db):
        return []
    since = add_duration(db.now, seconds=-UNDELIVERED_SECONDS)
    return [job_id for (job_id,) in db.rows(_UNDELIVERED, since=since)]


def _have_runners_had_time(db: Connection) -> bool:
    """Return whether the server has run long enough for reports that runners could not send while it was down."""
    return db.value(_JUST_STARTED, since=add_duration(db.now, seconds=-UNDELIVERED_SECONDS)) is None


def stuck_jobs(db: Connection) -> list[tuple[int, FailureReason]]:
    """Return the jobs that do not progress, and why they fail."""
    silent_since = add_duration(db.now, seconds=-SILENT_RUNNER_SECONDS)
    queued_since = add_duration(db.now, hours=-MAX_QUEUE_HOURS)
    overdue: list[tuple[int, FailureReason]] = [
        (job_id, "job_execution_timeout") for (job_id,) in db.rows(_OVERDUE, now=db.now)
    ]
    silent = db.rows(_SILENT, since=silent_since) if _have_runners_had_time(db) else []
    unwanted = db.rows(_UNWANTED, since=queued_since)
    stuck: list[tuple[int, FailureReason]] = [
        (job_id, "stuck_or_timeout_failure") for (job_id,) in (*silent, *unwanted)
    ]
    blocked: list[tuple[int, FailureReason]] = [(job_id, "user_blocked") for (job_id,) in db.rows(_OF_INACTIVE_USERS)]
    return [*overdue, *stuck, *blocked]


def awaited_resources(db: Connection) -> list[tuple[int, str]]:
    """Return the project and name of every resource group that a job waits for."""
    return [(project_id, name) for project_id, name in db.rows(_WAITED_FOR)]
