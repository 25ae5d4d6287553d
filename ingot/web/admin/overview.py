"""Administration pages of the instance's health, statistics and background jobs."""

from typing import NamedTuple

from ingot.accounts.instance import api as instance_api
from ingot.core.api.params import path_number
from ingot.core.cache import CopiesSize, CopyStats
from ingot.core.db.connection import Connection
from ingot.core.jobs.admin import delete_job, list_jobs, retry_dead, retry_job
from ingot.core.jobs.statistics import queue_stats
from ingot.core.offload import require_blocking_allowed
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.totals import instance_totals
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_MAX_JOBS = 100


class RepositoryCopies(NamedTuple):
    """Copies of repositories in a bucket that this machine has, and their use by this process."""

    size: CopiesSize
    stats: CopyStats
    max_bytes: int
    """0 means no limit."""
    hit_rate: float | None
    """Between 0 and 1; None before the first use."""


@pages.get("/admin")
def show_overview(visit: Visit, db: Connection) -> PageResponse:
    """Show the health of the services, the totals and the job queue."""
    require_admin(visit)
    totals = instance_totals(db)
    served = {role: visit.database.engine.is_served(role) for role in ("jobs", "ssh")}
    context = {
        "health": {"web": True, "database": True, **served},
        "counts": {"Users": totals.users, "Projects": totals.projects, "Groups": totals.groups},
        "queue": queue_stats(db),
        "nodes": visit.ask(instance_api.list_instance_nodes),
        "version": visit.ask(instance_api.get_version),
        "copies": _repository_copies(visit),
        "engine": visit.settings.database.partition(":")[0],
    }
    return render_admin_page(visit, "overview", "overview", context)


def _repository_copies(visit: Visit) -> RepositoryCopies | None:
    """Return the use of the copies of repositories in a bucket; None without such repositories."""
    if not visit.settings.storage_in_bucket:
        return None
    require_blocking_allowed()  # The files are counted.
    bucket, max_bytes = repository_store(visit.settings).in_bucket, visit.settings.repository_cache_mb * 2**20
    stats = bucket.stats()
    uses = stats.hits + stats.misses
    return RepositoryCopies(bucket.cache_size(), stats, max_bytes, stats.hits / uses if uses else None)


@pages.get("/admin/jobs")
def show_jobs(visit: Visit, db: Connection) -> PageResponse:
    """List the background jobs, dead ones first."""
    require_admin(visit)
    return _jobs_page(visit, db, [])


@pages.post("/admin/jobs/retry", notice="Dead jobs queued again.")
def retry_dead_jobs(visit: Visit) -> PageResponse:
    """Retry all dead jobs."""
    require_admin(visit)
    visit.database.write(retry_dead)
    return LocalRedirect("/admin/jobs")


@pages.post("/admin/jobs/:id/retry", notice="Job queued.")
def retry_one_job(visit: Visit) -> PageResponse:
    """Retry one job now."""
    require_admin(visit)
    try:
        visit.database.write(lambda db: retry_job(db, path_number(visit.request.path, "id")))
    except REQUEST_ERRORS as error:
        reasons = error_messages(error)
        return visit.database.read(lambda db: _jobs_page(visit, db, reasons))
    return LocalRedirect("/admin/jobs")


@pages.delete("/admin/jobs/:id", notice="Job deleted.")
def delete_one_job(visit: Visit) -> PageResponse:
    """Delete a job."""
    require_admin(visit)
    visit.database.write(lambda db: delete_job(db, path_number(visit.request.path, "id")))
    return LocalRedirect("/admin/jobs")


def _jobs_page(visit: Visit, db: Connection, errors: list[str]) -> PageResponse:
    dead, dead_count = list_jobs(db, "dead", _MAX_JOBS)
    waiting, _ = list_jobs(db, "waiting", _MAX_JOBS)
    running, _ = list_jobs(db, "running", _MAX_JOBS)
    context = {"groups": (("Failed", dead), ("Running", running), ("Waiting", waiting)), "queue": queue_stats(db)}
    return render_admin_page(
        visit, "jobs", "jobs", {**context, "dead_count": dead_count, "errors": errors}, 422 if errors else 200
    )
