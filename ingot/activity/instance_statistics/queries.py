"""Queries of the counts of the instance and of its job queue."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import BigInteger, ColumnElement, bindparam, func, select
from sqlalchemy.sql.selectable import FromClause

from ingot.accounts.keys.tables import ssh_keys
from ingot.accounts.users.tables import users
from ingot.collaboration.issues.tables import issues
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.collaboration.milestones.tables import milestones
from ingot.collaboration.notes.tables import notes
from ingot.collaboration.snippets.tables import snippets
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import to_datetime
from ingot.core.jobs.tables import job_failures, jobs
from ingot.projects.namespaces.tables import memberships, namespaces
from ingot.projects.projects.tables import projects

# Deleted projects have no namespace until their rows are removed.
_EXISTING = projects.c.namespace_id.is_not(None)


def _count(table: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return select(func.count()).select_from(table).where(*conditions).scalar_subquery()


_COUNTS: dict[str, ColumnElement[int]] = {
    "forks": _count(projects, _EXISTING, projects.c.forked_from_id.is_not(None)),
    "issues": _count(issues),
    "merge_requests": _count(merge_requests),
    "notes": _count(notes),
    "snippets": _count(snippets),
    "ssh_keys": _count(ssh_keys),
    "milestones": _count(milestones),
    "users": _count(users),
    "groups": _count(namespaces, namespaces.c.kind == "group"),
    "projects": _count(projects, _EXISTING),
    "active_users": _count(users, users.c.state == "active", users.c.placeholder.is_(False), users.c.bot.is_(False)),
}
_ALL_COUNTS = select(*(count.label(name) for name, count in _COUNTS.items()))
_USER = bindparam("user", type_=BigInteger)
_MEMBER = memberships.c.user_id == _USER
_ASSOCIATIONS = select(
    _count(memberships, _MEMBER, memberships.c.source_kind == "group"),
    _count(memberships, _MEMBER, memberships.c.source_kind == "project"),
    _count(issues, issues.c.author_id == _USER, issues.c.deleted_at.is_(None)),
    _count(merge_requests, merge_requests.c.author_id == _USER),
)
_GROUP_COUNTS = (
    select(memberships.c.user_id, func.count())
    .where(in_list(memberships.c.user_id, "users"), memberships.c.source_kind == "group")
    .group_by(memberships.c.user_id)
)
_BACKLOG = (
    select(jobs.c.kind, func.count(), func.min(jobs.c.run_at))
    .where(jobs.c.state == "waiting")
    .group_by(jobs.c.kind)
    .order_by(jobs.c.kind)
)
_RUNNING = (
    select(func.count()).select_from(jobs).where(jobs.c.state == "running", jobs.c.leased_until > bindparam("now"))
)
_FAILED = select(func.coalesce(func.sum(job_failures.c.count), 0))
_LAST_ID = select(func.coalesce(func.max(jobs.c.id), 0))
_UNFINISHED = select(func.count()).select_from(jobs)


def associations_of_user(db: Connection, user_id: int) -> tuple[int, int, int, int]:
    """Count the groups and projects of a user, and the issues and merge requests that the user has created."""
    ((groups, joined, created_issues, created_merge_requests),) = db.rows(_ASSOCIATIONS, user=user_id)
    return groups, joined, created_issues, created_merge_requests


def group_counts_of_users(db: Connection, user_ids: Collection[int]) -> dict[int, int]:
    """Count the groups of each of several users; users without groups are left out."""
    return dict(db.rows(_GROUP_COUNTS, users=sorted(user_ids)))


class QueueBacklog(NamedTuple):
    """Waiting jobs of one kind."""

    backlog: int
    latency: int
    """Seconds that the oldest of them is overdue."""


class JobTotals(NamedTuple):
    """Finished jobs, failed attempts and jobs that are not finished."""

    processed: int
    failed: int
    enqueued: int


def instance_counts(db: Connection) -> dict[str, int]:
    """Return the number of records of each kind; one statement."""
    return dict(zip(_COUNTS, db.rows(_ALL_COUNTS)[0], strict=True))


def queue_backlogs(db: Connection) -> dict[str, QueueBacklog]:
    """Return the waiting jobs by kind."""
    now = to_datetime(db.now)
    return {
        kind: QueueBacklog(count, max(0, int((now - to_datetime(oldest)).total_seconds())))
        for kind, count, oldest in db.rows(_BACKLOG)
    }


def count_running_jobs(db: Connection) -> int:
    """Return the number of jobs that workers are running."""
    count: int = db.value(_RUNNING, now=db.now)
    return count


def job_totals(db: Connection) -> JobTotals:
    """Return the totals of the queue; ids of jobs are never reused, so that the last one is their number."""
    unfinished: int = db.value(_UNFINISHED)
    last: int = db.value(_LAST_ID)
    failed = int(db.value(_FAILED))
    return JobTotals(max(last - unfinished, 0), failed, unfinished)
