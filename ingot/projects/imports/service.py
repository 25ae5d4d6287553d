"""State changes of imports."""

from typing import NamedTuple

from sqlalchemy import bindparam, update

from ingot.accounts.instance.settings import current_settings
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied, Invalid
from ingot.core.events.bus import emit
from ingot.core.jobs.handlers import RetryLater
from ingot.core.jobs.queue import enqueue, wake_workers
from ingot.core.jobs.tables import jobs
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import strip_credentials
from ingot.projects.imports.events import ProjectImported
from ingot.projects.imports.queries import (
    JOB_KEY,
    Import,
    has_running_import,
    import_or_none,
    locked_import_or_none,
    lost_imports,
    next_waiting_job,
)
from ingot.projects.projects.tables import Project, projects

IMPORT_PROJECT = "import_project"
USER_TURN_TIMEOUT_SECONDS = 120.0
"""Delay before an import that waits for another import of its user is tried again."""
_INTERRUPTED = "The import was interrupted too often"
_DROPPED = "The import was stopped by an administrator"
_RUN_NOW = (
    update(jobs)
    .where(jobs.c.id == bindparam("waiting"), jobs.c.state == "waiting")
    .values(run_at=bindparam("now"), placed_at=bindparam("now"))
)


class ImportResult(NamedTuple):
    """Properties of an imported repository."""

    default_branch: str
    empty: bool
    commit_count: int
    repository_size: int


def validate_import_url(url: str, guard: SsrfGuard) -> None:
    """Raise Invalid if a URL can be refused without a network request."""
    try:
        guard.check_url(url, credentials=True)
        rest = url.partition("://")[2]
        if "?" in rest or "#" in rest:
            raise RequestRefused("The URL of a repository has no query and no fragment")
        if "://" in rest:
            # Valid paths do not contain it, but it can inject options into git's configuration.
            raise RequestRefused("The URL is not valid")
    except RequestRefused as error:
        raise Invalid(import_url=[error.reason]) from error


def schedule_import(db: Connection, project: Project, url: str) -> None:
    """Enqueue the import of a repository into a new project; the URL with its credentials is stored encrypted."""
    if "git" not in current_settings(db).import_sources:
        raise Denied("Imports from a URL are disabled")
    db.update(projects, project.id, import_status="scheduled", import_url=db.vault.seal(url))
    enqueue(db, IMPORT_PROJECT, {"project_id": project.id}, unique_key=f"{JOB_KEY}{project.id}")


def start_import(db: Connection, pending: Import) -> Import | None:
    """Mark an import as started; return its previous state, or None if it has ended or the project was deleted.

    Only one import of a user runs at a time, so that one user's slow servers do not block the imports of others. Raises
    RetryLater if another import of the user is running.
    """
    if pending.creator_id is not None:
        db.lock(f"imports of {pending.creator_id}")
    current = locked_import_or_none(db, pending.project_id)
    if current is None:
        return None
    creator = current.creator_id
    if current.status == "scheduled" and creator is not None and has_running_import(db, creator, current.project_id):
        raise RetryLater(USER_TURN_TIMEOUT_SECONDS)
    # The error of the previous attempt stays visible until this attempt ends.
    db.update(projects, current.project_id, import_status="started", import_progress=None)
    return current


def is_import_pending(db: Connection, project_id: int) -> bool:
    """Check whether an import is still in the state "started"."""
    pending = import_or_none(db, project_id)
    return pending is not None and pending.status == "started"


def record_progress(db: Connection, project_id: int, text: str) -> bool:
    """Store the progress of an import; return whether it is still pending."""
    pending = locked_import_or_none(db, project_id)
    if pending is not None:
        db.update(projects, project_id, import_progress=text)
    return pending is not None


def finish_import(db: Connection, project_id: int, result: ImportResult) -> None:
    """Mark an import as finished and store the repository's properties."""
    pending = locked_import_or_none(db, project_id)
    if pending is None:
        return
    db.update(
        projects,
        project_id,
        import_status="finished",
        import_error=None,
        import_progress=None,
        import_url=_strip_stored_credentials(db, pending),
        default_branch=result.default_branch,
        empty=result.empty,
        commit_count=result.commit_count,
        repository_size=result.repository_size,
        last_activity_at=db.now,
        updated_at=db.now,
    )
    start_next_import(db, pending)
    emit(db, ProjectImported(project_id=project_id))


def fail_import(db: Connection, project_id: int, reason: str) -> None:
    """Mark an import as failed for this reason."""
    pending = locked_import_or_none(db, project_id)
    if pending is not None:
        _fail(db, pending, reason)


def schedule_retry(db: Connection, project_id: int, reason: str) -> None:
    """Mark an import as scheduled again, with the reason of the failed attempt."""
    pending = locked_import_or_none(db, project_id)
    if pending is None:
        return
    db.update(
        projects,
        project_id,
        import_status="scheduled",
        import_error=reason,
        import_progress=f"Waiting to retry: {reason}",
    )
    start_next_import(db, pending)


def cancel_import(db: Connection, project_id: int) -> None:
    """Fail an import whose job was deleted; a running fetch notices this at its next check."""
    fail_import(db, project_id, _DROPPED)


def fail_lost_imports(db: Connection) -> None:
    """Mark imports whose job no longer exists as failed; otherwise they would be pending forever."""
    for lost in lost_imports(db):
        _fail(db, lost, _INTERRUPTED)


def start_next_import(db: Connection, ended: Import) -> None:
    """Start the user's next waiting import."""
    job_id = next_waiting_job(db, ended.creator_id) if ended.creator_id is not None else None
    if job_id is not None:
        db.run(_RUN_NOW, waiting=job_id, now=db.now)
        wake_workers(db)


def _fail(db: Connection, pending: Import, reason: str) -> None:
    db.update(
        projects,
        pending.project_id,
        import_status="failed",
        import_error=reason,
        import_progress=None,
        import_url=_strip_stored_credentials(db, pending),
        updated_at=db.now,
    )
    start_next_import(db, pending)


def _strip_stored_credentials(db: Connection, ended: Import) -> bytes:
    """Return the encrypted URL without credentials, which are no longer needed and must not leak later."""
    return db.vault.seal(strip_credentials(db.vault.unseal(ended.sealed_url))[0])
