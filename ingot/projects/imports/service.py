"""Scheduling imports, and writing down how they go."""

from typing import NamedTuple

from sqlalchemy import bindparam, update

from ingot.accounts.instance.settings import current_settings
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.core.jobs.handlers import RetryLater
from ingot.core.jobs.queue import enqueue, wake_workers
from ingot.core.jobs.tables import jobs
from ingot.core.outgoing.guard import OutgoingRequestBlocked, SsrfGuard, strip_credentials
from ingot.errors import Denied, Invalid
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

IMPORT_PROJECT = "import project"
USER_TURN_TIMEOUT_SECONDS = 120.0
"""How long an import waits for its user's turn, if nothing else lets it begin earlier."""
_INTERRUPTED = "The import was interrupted too often"
_DROPPED = "The import was stopped by an administrator"
_RUN_NOW = (
    update(jobs)
    .where(jobs.c.id == bindparam("waiting"), jobs.c.state == "waiting")
    .values(run_at=bindparam("now"), placed_at=bindparam("now"))
)


class ImportResult(NamedTuple):
    """What an import brought."""

    default_branch: str
    empty: bool
    commit_count: int
    repository_size: int


def validate_import_url(url: str, guard: SsrfGuard) -> None:
    """Refuse at once what can be told to be unfit without asking anybody."""
    try:
        guard.check_url(url, credentials=True)
        rest = url.partition("://")[2]
        if "?" in rest or "#" in rest:
            raise OutgoingRequestBlocked("The URL of a repository has no query and no fragment")
        if "://" in rest:
            # No path has it, but it is how options are smuggled into configuration (threats.md, D17).
            raise OutgoingRequestBlocked("The URL is not valid")
    except OutgoingRequestBlocked as error:
        raise Invalid(import_url=[error.reason]) from error


def schedule_import(db: Connection, project: Project, url: str) -> None:
    """Let a job fetch a repository into a new project; the credentials in the URL stay sealed in its row."""
    if "git" not in current_settings(db).import_sources:
        raise Denied("Imports from a URL are disabled")
    db.update(projects, project.id, import_status="scheduled", import_url=db.vault.seal(url))
    enqueue(db, IMPORT_PROJECT, {"project_id": project.id}, unique_key=f"{JOB_KEY}{project.id}")


def start_import(db: Connection, wanted: Import) -> Import | None:
    """Say that it runs; gives it as it was before, or nothing where it has ended or the project is gone.

    Of one user's imports one runs at a time, so that nobody's slow servers keep everybody else waiting.
    """
    if wanted.creator_id is not None:
        db.lock(f"imports of {wanted.creator_id}")
    found = locked_import_or_none(db, wanted.project_id)
    if found is None:
        return None
    creator = found.creator_id
    if found.status == "scheduled" and creator is not None and has_running_import(db, creator, found.project_id):
        raise RetryLater(USER_TURN_TIMEOUT_SECONDS)
    # Why the last try failed is shown until there is something newer to say.
    db.update(projects, found.project_id, import_status="started", import_progress=None)
    return found


def is_import_pending(db: Connection, project_id: int) -> bool:
    """Whether anybody still waits for an import that has started."""
    found = import_or_none(db, project_id)
    return found is not None and found.status == "started"


def record_progress(db: Connection, project_id: int, text: str) -> bool:
    """Show how far it is; says whether anybody still waits for it."""
    found = locked_import_or_none(db, project_id)
    if found is not None:
        db.update(projects, project_id, import_progress=text)
    return found is not None


def finish_import(db: Connection, project_id: int, brought: ImportResult) -> None:
    """Say that the repository is there."""
    found = locked_import_or_none(db, project_id)
    if found is None:
        return
    db.update(
        projects,
        project_id,
        import_status="finished",
        import_error=None,
        import_progress=None,
        import_url=_strip_stored_credentials(db, found),
        default_branch=brought.default_branch,
        empty=brought.empty,
        commit_count=brought.commit_count,
        repository_size=brought.repository_size,
        last_activity_at=db.now,
        updated_at=db.now,
    )
    start_next_import(db, found)
    emit(db, ProjectImported(project_id=project_id))


def fail_import(db: Connection, project_id: int, reason: str) -> None:
    """Say that it did not work, and why."""
    found = locked_import_or_none(db, project_id)
    if found is not None:
        _fail(db, found, reason)


def schedule_retry(db: Connection, project_id: int, reason: str) -> None:
    """Say that it will be tried again, and what was in the way."""
    found = locked_import_or_none(db, project_id)
    if found is None:
        return
    db.update(
        projects,
        project_id,
        import_status="scheduled",
        import_error=reason,
        import_progress=f"Waiting for another try: {reason}",
    )
    start_next_import(db, found)


def cancel_import(db: Connection, project_id: int) -> None:
    """End an import whose job somebody took away; what runs of it finds that out by itself."""
    fail_import(db, project_id, _DROPPED)


def fail_lost_imports(db: Connection) -> None:
    """End the imports whose job was given up or dropped, so that nobody waits for them for ever."""
    for found in lost_imports(db):
        _fail(db, found, _INTERRUPTED)


def start_next_import(db: Connection, found: Import) -> None:
    """Let the next import of the same user begin, which waits for this one."""
    job_id = next_waiting_job(db, found.creator_id) if found.creator_id is not None else None
    if job_id is not None:
        db.run(_RUN_NOW, waiting=job_id, now=db.now)
        wake_workers(db)


def _fail(db: Connection, found: Import, reason: str) -> None:
    db.update(
        projects,
        found.project_id,
        import_status="failed",
        import_error=reason,
        import_progress=None,
        import_url=_strip_stored_credentials(db, found),
        updated_at=db.now,
    )
    start_next_import(db, found)


def _strip_stored_credentials(db: Connection, found: Import) -> bytes:
    """The address is kept; the credentials are not needed any more, and what is not kept cannot leak."""
    return db.vault.seal(strip_credentials(db.vault.unseal(found.sealed_url))[0])
