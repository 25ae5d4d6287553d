"""How the instance is, what it has, and what waits to be done."""

from typing import Any

from sqlalchemy import Table, func, select

from ingot.api.params import path_number
from ingot.db.connection import Connection
from ingot.groups.namespaces.tables import namespaces
from ingot.jobs.admin import drop_job, list_jobs, retry_dead, retry_job
from ingot.jobs.numbers import job_numbers
from ingot.projects.tables import projects
from ingot.users.accounts.tables import users
from ingot.web.admin.frame import admin_page, require_admin
from ingot.web.pages import Pages, Redirect, Reply, Visit
from ingot.web.refusals import Refusal, sentences

pages = Pages()
_MOST_JOBS = 100


def _counting(table: Table) -> Any:
    return select(func.count()).select_from(table)


_COUNTS = {
    "People": _counting(users),
    "Projects": _counting(projects).where(projects.c.namespace_id.is_not(None)),
    "Groups": _counting(namespaces).where(namespaces.c.kind == "group"),
}


@pages.get("/admin")
def show_overview(visit: Visit, db: Connection) -> Reply:
    """What serves, and how much there is."""
    require_admin(visit)
    served = {role: visit.database.engine.is_served(role) for role in ("jobs", "ssh")}
    context = {
        "health": {"web": True, "database": True, **served},
        "counts": {name: db.value(statement) for name, statement in _COUNTS.items()},
        "queue": job_numbers(db),
        "version": visit.get("/version"),
        "engine": visit.settings.database.partition(":")[0],
    }
    return admin_page(visit, "overview", "overview", context)


@pages.get("/admin/jobs")
def show_jobs(visit: Visit, db: Connection) -> Reply:
    """The queue; those that gave up first."""
    require_admin(visit)
    return _jobs(visit, db, [])


@pages.post("/admin/jobs/retry")
def retry_all(visit: Visit) -> Reply:
    """Run every job that gave up once more."""
    require_admin(visit)
    visit.database.write(retry_dead)
    return Redirect("/admin/jobs")


@pages.post("/admin/jobs/:id/retry")
def retry_one(visit: Visit) -> Reply:
    """Run one job now."""
    require_admin(visit)
    try:
        visit.database.write(lambda db: retry_job(db, path_number(visit.path, "id")))
    except Refusal as refusal:
        reasons = sentences(refusal)
        return visit.database.read(lambda db: _jobs(visit, db, reasons))
    return Redirect("/admin/jobs")


@pages.delete("/admin/jobs/:id")
def drop_one(visit: Visit) -> Reply:
    """Remove a job for good."""
    require_admin(visit)
    visit.database.write(lambda db: drop_job(db, path_number(visit.path, "id")))
    return Redirect("/admin/jobs")


def _jobs(visit: Visit, db: Connection, errors: list[str]) -> Reply:
    dead, gave_up = list_jobs(db, "dead", _MOST_JOBS)
    waiting, _ = list_jobs(db, "waiting", _MOST_JOBS)
    running, _ = list_jobs(db, "running", _MOST_JOBS)
    context = {"groups": (("Gave up", dead), ("Running", running), ("Waiting", waiting)), "queue": job_numbers(db)}
    return admin_page(visit, "jobs", "jobs", {**context, "gave_up": gave_up, "errors": errors}, 422 if errors else 200)
