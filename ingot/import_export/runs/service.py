"""State changes of imports."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import bindparam, func, select, update

from ingot.core.db.announcements import announce
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import cancel_job, enqueue, postpone_unique_job, restart_attempts
from ingot.core.jobs.tables import jobs
from ingot.import_export.runs.documents import EntityProgress, RunOptions, SourceCredentials, encoded
from ingot.import_export.runs.queries import (
    JOB_KEY,
    entities_of,
    entity_or_none,
    imported_source,
    lost_runs,
    run_or_none,
)
from ingot.import_export.tables import (
    EntityType,
    ImportEntity,
    ImportRun,
    RunStatus,
    SourceType,
    import_entities,
    import_failures,
    import_runs,
    imported_sources,
)
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project, projects

RUN_IMPORT = "run_import"
CANCELED = "The import was canceled"
INTERRUPTED = "The import was interrupted"
MAX_REASON_LENGTH = 1000
MAX_PROBLEMS = 10_000
"""Problems of an entity that are stored; a source could cause any number of them."""
_entities = import_entities
# Compares the position with the expected one: a worker whose lease has expired, or whose run was canceled, stores
# nothing more.
_ADVANCE = (
    update(_entities)
    .where(
        _entities.c.id == bindparam("entity"),
        _entities.c.status == "started",
        func.coalesce(_entities.c.step, "") == bindparam("old_step"),
        func.coalesce(_entities.c.cursor, "") == bindparam("old_cursor"),
    )
    .values(
        step=bindparam("new_step"),
        cursor=bindparam("new_cursor"),
        progress_document=bindparam("progress"),
        updated_at=bindparam("moment"),
    )
)


_OWN_JOB = select(jobs.c.id).where(jobs.c.unique_key == bindparam("key"), jobs.c.state == "waiting")


HOLD_SECONDS = 45.0
"""Time after which the job of a run takes over from a caller that no longer executes it."""


class RunSuperseded(Exception):
    """The run was canceled, deleted, or is continued by another worker."""


class EntityRequest(NamedTuple):
    """Project or group to import, and its destination."""

    entity_type: EntityType
    source_key: str
    destination_namespace: str
    destination_slug: str
    destination_name: str = ""
    project: Project | None = None
    import_id: int | None = None
    group: Namespace | None = None


class Position(NamedTuple):
    """Step of an entity and the cursor of the source in it."""

    step: str | None
    cursor: str | None


def run_topic(run_id: int) -> str:
    """Return the topic under which changes of a run are announced."""
    return f"import:{run_id}"


def start_run(
    db: Connection,
    user_id: int,
    source_type: SourceType,
    source_url: str,
    requests: Sequence[EntityRequest],
    options: RunOptions,
    credentials: SourceCredentials,
    *,
    by_job: bool = True,
) -> ImportRun:
    """Create a run with its entities, and the job that executes it.

    Without ``by_job`` the caller executes it and calls ``hold_run`` while it does; the job takes over after that.
    """
    now = {"created_at": db.now, "updated_at": db.now}
    run_id = db.insert(
        import_runs,
        user_id=user_id,
        source_type=source_type,
        source_url=source_url,
        status="created",
        sealed_credentials=db.vault.seal(encoded(credentials)),
        options_document=encoded(options),
        **now,
    )
    for request in requests:
        add_entity(db, run_id, request)
        if request.project is not None:
            columns = {"import_status": "scheduled", "import_error": None, "import_type": source_type}
            db.update(projects, request.project.id, **columns)
    run_at = None if by_job else add_duration(db.now, seconds=HOLD_SECONDS)
    enqueue(db, RUN_IMPORT, {"run_id": run_id}, run_at, unique_key=f"{JOB_KEY}{run_id}")
    run = run_or_none(db, run_id)
    if run is None:
        raise RunSuperseded
    return run


def hold_run(db: Connection, run_id: int) -> bool:
    """Keep the job of a run from starting while the caller executes the run; return False if it has started."""
    return postpone_unique_job(db, f"{JOB_KEY}{run_id}", add_duration(db.now, seconds=HOLD_SECONDS))


def finish_own_job(db: Connection, run_id: int) -> None:
    """Delete the job of a run that its caller has executed."""
    job_id: int | None = db.value(_OWN_JOB, key=f"{JOB_KEY}{run_id}")
    if job_id is not None:
        cancel_job(db, job_id)


def add_entity(db: Connection, run_id: int, request: EntityRequest, parent_id: int | None = None) -> int:
    """Add a project or group to a run; return its id."""
    return db.insert(
        _entities,
        run_id=run_id,
        parent_id=parent_id,
        entity_type=request.entity_type,
        source_key=request.source_key,
        source_full_path=request.source_key,
        destination_namespace=request.destination_namespace,
        destination_name=request.destination_name or request.destination_slug,
        destination_slug=request.destination_slug,
        project_id=request.project.id if request.project else None,
        namespace_id=request.group.id if request.group else None,
        import_id=request.import_id,
        status="created",
        created_at=db.now,
        updated_at=db.now,
    )


def link_source(
    db: Connection,
    source_type: SourceType,
    host: str,
    key: str,
    *,
    project_id: int | None = None,
    group_id: int | None = None,
) -> int:
    """Record from which source a project or group is imported; return the id of the imported source."""
    columns = {"source_type": source_type, "source_host": host, "source_key": key, "group_id": group_id}
    return db.insert(imported_sources, project_id=project_id, created_at=db.now, updated_at=db.now, **columns)


def credentials_of(db: Connection, run: ImportRun) -> SourceCredentials:
    """Return the secrets of a run that has not ended."""
    if run.sealed_credentials is None:
        raise RunSuperseded
    return msgspec.json.decode(db.vault.unseal(run.sealed_credentials), type=SourceCredentials)


def begin_run(db: Connection, run_id: int) -> ImportRun:
    """Mark a run as started; raise RunSuperseded if it has ended."""
    run = run_or_none(db, run_id)
    if run is None or run.status not in ("created", "started"):
        raise RunSuperseded
    if run.status == "created":
        db.update(import_runs, run_id, status="started", updated_at=db.now)
        announce(db, run_topic(run_id))
    return run


def begin_entity(db: Connection, entity: ImportEntity) -> ImportEntity:
    """Mark an entity as started, and return its current state."""
    current = entity_or_none(db, entity.id)
    if current is None or current.status not in ("created", "started"):
        raise RunSuperseded
    if current.status == "created":
        progress = encoded(EntityProgress(started_at=db.now))
        db.update(_entities, entity.id, status="started", progress_document=progress, updated_at=db.now)
        announce(db, run_topic(entity.run_id))
    started = entity_or_none(db, entity.id)
    if started is None:
        raise RunSuperseded
    return started


def advance_entity(
    db: Connection, entity: ImportEntity, old: Position, new: Position, progress: EntityProgress
) -> None:
    """Store the position after a batch; raise RunSuperseded if it is not the expected one any more."""
    changed = db.run_counted(
        _ADVANCE,
        entity=entity.id,
        old_step=old.step or "",
        old_cursor=old.cursor or "",
        new_step=new.step,
        new_cursor=new.cursor,
        progress=encoded(progress),
        moment=db.now,
    )
    if not changed:
        raise RunSuperseded
    restart_attempts(db, f"{JOB_KEY}{entity.run_id}")
    announce(db, run_topic(entity.run_id))


def set_entity(db: Connection, entity: ImportEntity, **columns: Any) -> None:
    """Set columns of an entity that has not ended."""
    db.update(_entities, entity.id, **columns, updated_at=db.now)
    announce(db, run_topic(entity.run_id))


def add_problems(db: Connection, entity_id: int, relation: str, reasons: Sequence[str]) -> None:
    """Record objects that were not imported, or not completely."""
    rows = [
        {
            "entity_id": entity_id,
            "relation": relation,
            "source_key": None,
            "reason": reason[:MAX_REASON_LENGTH],
            "created_at": db.now,
        }
        for reason in dict.fromkeys(reasons)
    ]
    db.insert_many(import_failures, rows)


def finish_entity(db: Connection, entity: ImportEntity, progress: EntityProgress) -> None:
    """Mark an entity as imported; the next run needs only what is changed after this one began."""
    columns = {"progress_document": encoded(progress), "error": None, "finished_at": db.now, "step": None}
    if entity.import_id is not None:
        imported_source(db, entity.import_id)
        db.update(imported_sources, entity.import_id, complete_since=progress.started_at, updated_at=db.now)
    if entity.project_id is not None:
        _set_project(db, entity.project_id, {"import_status": "finished", "import_error": None})
    set_entity(db, entity, status="finished", cursor=None, **columns)


def fail_entity(db: Connection, entity: ImportEntity, reason: str, status: RunStatus = "failed") -> None:
    """Mark an entity as failed for this reason."""
    current = entity_or_none(db, entity.id)
    if current is None or current.status not in ("created", "started"):
        return
    if current.project_id is not None:
        _set_project(db, current.project_id, {"import_status": status, "import_error": reason[:MAX_REASON_LENGTH]})
    set_entity(db, entity, status=status, error=reason[:MAX_REASON_LENGTH], finished_at=db.now)


def _set_project(db: Connection, project_id: int, columns: Mapping[str, str | None]) -> None:
    db.update(projects, project_id, import_progress=None, updated_at=db.now, **columns)


def finish_run(db: Connection, run_id: int) -> None:
    """Mark a run as ended: failed if no entity was imported. Its credentials are deleted."""
    run = run_or_none(db, run_id)
    if run is None or run.status not in ("created", "started"):
        return
    statuses = [entity.status for entity in entities_of(db, run_id)]
    status: RunStatus = "finished" if "finished" in statuses or not statuses else "failed"
    _end_run(db, run_id, status)


def cancel_run(db: Connection, run: ImportRun) -> ImportRun:
    """Cancel a run; objects that were imported stay, and a later run continues from them."""
    if run.status not in ("created", "started"):
        raise Invalid("The import has already ended")
    _stop_run(db, run.id, CANCELED, "canceled")
    canceled = run_or_none(db, run.id)
    return run if canceled is None else canceled


def fail_lost_runs(db: Connection) -> None:
    """Mark runs whose job no longer exists as failed; otherwise they would be pending forever."""
    for run in lost_runs(db):
        _stop_run(db, run.id, INTERRUPTED, "failed")


def _stop_run(db: Connection, run_id: int, reason: str, status: RunStatus) -> None:
    for entity in entities_of(db, run_id):
        fail_entity(db, entity, reason, status)
    _end_run(db, run_id, status)


def _end_run(db: Connection, run_id: int, status: RunStatus) -> None:
    db.update(import_runs, run_id, status=status, finished_at=db.now, updated_at=db.now, sealed_credentials=None)
    announce(db, run_topic(run_id))
