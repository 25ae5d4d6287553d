"""Endpoints of the counts of the instance, of its job queue and of the open work of a user."""

import os
import socket

from ingot.accounts.users.api import user_in_path
from ingot.accounts.users.tables import User
from ingot.activity.instance_statistics import queries
from ingot.activity.instance_statistics.views import (
    AssociationsCountView,
    CompoundMetricsView,
    InstanceCountsView,
    JobProcessView,
    JobStatsView,
    JobTotalsView,
    ProcessMetricsView,
    QueueBacklogView,
    QueueMetricsView,
    UserCountsView,
)
from ingot.collaboration.issues.params import ListIssues
from ingot.collaboration.issues.queries import count_issues
from ingot.collaboration.merge_requests.params import ListMergeRequests, Scope
from ingot.collaboration.merge_requests.queries import list_merge_requests
from ingot.collaboration.todos.queries import count_todos
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import administrators, signed_in
from ingot.core.access.scopes import READ_USER_SCOPES
from ingot.core.api.routes import Call, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page

routes = Routes("statistics")


def may_count_associations(actor: Actor, access: Access, user: User) -> bool:  # noqa: ARG001 - All rules take the same three.
    """The user and administrators."""
    return actor.admin or actor.user_id == user.id


@routes.get("/application/statistics", may=administrators, returns=InstanceCountsView)
def get_instance_counts(call: Call) -> InstanceCountsView:
    """Get the number of records of each kind."""
    return InstanceCountsView(**{name: str(count) for name, count in queries.instance_counts(call.db).items()})


@routes.get("/user_counts", may=signed_in, returns=UserCountsView)
def get_user_counts(call: Call) -> UserCountsView:
    """Get the number of open issues, merge requests and todos of the caller."""
    assigned = _open_merge_requests(call, "assigned_to_me")
    return UserCountsView(
        assigned,
        count_issues(call.db, call.actor, ListIssues(scope="assigned_to_me", state="opened"))["opened"],
        assigned,
        _open_merge_requests(call, "reviews_for_me"),
        count_todos(call.db, call.actor),
    )


@routes.get(
    "/users/:id/associations_count",
    on=user_in_path,
    may=may_count_associations,
    returns=AssociationsCountView,
    scopes=READ_USER_SCOPES,
)
def get_associations_count(call: Call, user: User) -> AssociationsCountView:
    """Get the number of groups, projects, issues and merge requests of a user."""
    return AssociationsCountView(*queries.associations_of_user(call.db, user.id))


def _open_merge_requests(call: Call, scope: Scope) -> int:
    listing = list_merge_requests(call.db, call.actor, ListMergeRequests(state="opened", scope=scope), Page(size=1))
    return listing.total or 0


@routes.get("/sidekiq/queue_metrics", may=administrators, returns=QueueMetricsView)
def get_queue_metrics(call: Call) -> QueueMetricsView:
    """Get the waiting background jobs by kind."""
    return QueueMetricsView(_queues(call.db))


@routes.get("/sidekiq/process_metrics", may=administrators, returns=ProcessMetricsView)
def get_process_metrics(call: Call) -> ProcessMetricsView:
    """Get the processes that run background jobs."""
    return ProcessMetricsView(_processes(call.db))


@routes.get("/sidekiq/job_stats", may=administrators, returns=JobStatsView)
def get_job_stats(call: Call) -> JobStatsView:
    """Get the totals of background jobs."""
    return JobStatsView(JobTotalsView(*queries.job_totals(call.db)))


@routes.get("/sidekiq/compound_metrics", may=administrators, returns=CompoundMetricsView)
def get_compound_metrics(call: Call) -> CompoundMetricsView:
    """Get all metrics of background jobs."""
    totals = JobTotalsView(*queries.job_totals(call.db))
    return CompoundMetricsView(_queues(call.db), _processes(call.db), totals)


def _queues(db: Connection) -> dict[str, QueueBacklogView]:
    backlogs = {"default": queries.QueueBacklog(0, 0)} | queries.queue_backlogs(db)
    return {kind: QueueBacklogView(*backlog) for kind, backlog in backlogs.items()}


def _processes(db: Connection) -> list[JobProcessView]:
    """Return this host as one entry: workers take jobs from the database and register nowhere."""
    busy = queries.count_running_jobs(db)
    return [JobProcessView(socket.gethostname(), os.getpid(), "ingot", ["default"], [], 1, busy)]
