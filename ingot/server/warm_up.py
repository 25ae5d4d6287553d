"""Warm-up of the application before its workers are forked: they share the memory, and their first pages are fast.

Pages are rendered for an administrator, then for an anonymous visitor, and thrown away. Reads that would block, such as
those that start git, end where they would. Statements of the job worker are compiled and not run.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import product
from time import monotonic
from typing import Any

from sqlalchemy import ClauseElement, ColumnElement, Executable, Select, Table, select

from ingot.accounts.users.tables import User, users
from ingot.collaboration.issues.tables import issues
from ingot.collaboration.merge_requests.tables import merge_requests
from ingot.core.db.compiled_statements import StatementCache
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Failure, Unavailable
from ingot.core.http.request import Message, Origin, Request
from ingot.core.jobs import clock_skew, leases, queue, schedule
from ingot.core.jobs.clock_skew import has_clock_skew
from ingot.core.jobs.leases import JobCapacity, next_due_at
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.jobs.tables import jobs, recurring_jobs
from ingot.core.log import log_failure
from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core.errors import GitError
from ingot.git.core.library import close_repositories, pygit2_module
from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes import queries as ref_change_queries
from ingot.server.app import App
from ingot.server.webhook_deliveries import has_waiting_delivery

_ROW_CHANGES = (
    ("insert", recurring_jobs, ("name", "next_run_at")),
    ("update", recurring_jobs, ("next_run_at",)),
    ("update", jobs, ("state", "attempts", "lease", "leased_until")),
)
"""Changes of single rows, which have no statement in a module."""
MAX_SECONDS = 1.5
"""No further page is rendered after this time, so that a slow disk does not delay the start for long."""
_ORIGIN = Origin("http://localhost", "http://localhost", "", "")
_PAGES = ("/users/sign_in", "/explore", "/")
_ADMINISTRATOR = select(users).where(users.c.admin, users.c.state == "active").order_by(users.c.id).limit(1)
_PROJECT = select(projects.c.full_path, projects.c.default_branch).where(projects.c.namespace_id.is_not(None))
_NEWEST_PROJECT = _PROJECT.order_by(projects.c.id.desc()).limit(1)


def _newest_of(table: Table, project_id: ColumnElement[Any]) -> Select[Any]:
    return (
        select(projects.c.full_path, table.c.iid)
        .join(projects, projects.c.id == project_id)
        .where(projects.c.namespace_id.is_not(None))
        .order_by(table.c.id.desc())
        .limit(1)
    )


_NEWEST_ISSUE = _newest_of(issues, issues.c.project_id)
_NEWEST_MERGE_REQUEST = _newest_of(merge_requests, merge_requests.c.target_project_id)
_NEWEST_MERGED = _NEWEST_MERGE_REQUEST.where(merge_requests.c.state == "merged")


def warm_up(app: App, minutely: Sequence[RecurringWork] = ()) -> None:
    """Do what requests and the job worker do first; the templates of other pages are loaded when they are visited.

    ``minutely`` is what the recurring jobs do that the worker runs in its own process. Leaves neither a connection nor
    a repository open.
    """
    pygit2_module()
    app.pages.preload()
    try:
        app.reconcile()
        app.database.read(_start_jobs)
        _compile_statements(app.database.statements, minutely)
        app.heartbeat().beat()
        app.preload_sites()
        _render_pages(app)
    except (Unavailable, Conflict) as error:  # The workers wait for the database, and readiness reports its state.
        log_failure("database not available at the start", error)
    finally:
        app.database.close()
        close_repositories()


def _start_jobs(db: Connection) -> None:
    """Run the statements with which a job worker starts."""
    next_due_at(db, JobCapacity(1))
    has_clock_skew(db, 0.0)
    has_waiting_delivery(db)


def _compile_statements(statements: StatementCache, minutely: Sequence[RecurringWork]) -> None:
    """Compile the statements with which a job is enqueued, claimed and finished, and those of recurring jobs.

    A worker that compiled them itself would copy 3 MB of the memory that it shares with the other processes.
    """
    own_modules = (import_module(work.__module__) for work in minutely)
    for module in (clock_skew, leases, queue, schedule, ref_change_queries, *own_modules):
        for value in vars(module).values():
            if isinstance(value, Executable) and isinstance(value, ClauseElement):
                statements.compiled(value)
    for verb, table, columns in _ROW_CHANGES:
        statements.writing(verb, table, columns)


def _render_pages(app: App) -> None:
    started = monotonic()
    administrator = app.database.read(lambda db: db.first(User, _ADMINISTRATOR))
    paths = app.database.read(lambda db: [*_PAGES, *_sample_pages(db)])
    # Their statements differ.
    for viewer, path in product((administrator, None), paths):
        if monotonic() - started > MAX_SECONDS:
            return
        try:
            with forbid_blocking():
                app.pages.render_for(viewer, Request("GET", path.encode(), b"", {}, _ORIGIN, _receive))
        except (WouldBlock, Failure, GitError):  # The page is rendered when a user asks for it.
            continue


async def _receive() -> Message:
    raise AssertionError("The request has no body")


def _sample_pages(db: Connection) -> Iterator[str]:
    """Yield the pages of the newest project, issue and merge request."""
    for path, iid in db.rows(_NEWEST_ISSUE):
        yield from (f"/{path}/-/issues", f"/{path}/-/issues/{iid}")
    # An open one is rendered only up to the check for conflicts, which starts git.
    for path, iid in db.rows(_NEWEST_MERGED):
        yield f"/{path}/-/merge_requests/{iid}"
    for path, iid in db.rows(_NEWEST_MERGE_REQUEST):
        page = f"/{path}/-/merge_requests"
        yield from (page, f"{page}/{iid}", f"{page}/{iid}/diffs")
    for path, branch in db.rows(_NEWEST_PROJECT):
        yield from (f"/{path}", f"/{path}/-/commits/{branch}", f"/{path}/-/tree/{branch}", f"/{path}/-/branches")
