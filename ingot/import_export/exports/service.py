"""State changes of exports."""

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from ingot.accounts.instance.throttles import count_within_limit
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.import_export.exports.params import ExportProject, UploadTarget
from ingot.import_export.exports.queries import (
    JOB_KEY,
    Exported,
    expired_exports,
    export_or_none,
    exports_of_user,
    lost_exports,
    owner_column,
)
from ingot.import_export.exports.tables import Export, exports

EXPORT_ARCHIVE = "export_archive"
EXPORT_RELATIONS = "export_relations"
KEPT_DAYS = 7
"""Days after which the file of an export is deleted."""
_STARTS_PER_MINUTE = 6
_INTERRUPTED = "The export was interrupted too often"


class ExportedFile(NamedTuple):
    """File of an export that is already in the storage."""

    key: str
    name: str
    size: int
    objects_count: int


def validate_upload(target: UploadTarget | None, guard: SsrfGuard) -> None:
    """Raise Invalid if the URL of an upload can be refused without a network request."""
    if target is None:
        return
    try:
        guard.check_url(target.url)
    except RequestRefused as error:
        raise Invalid(url=[error.reason]) from error


def start_export(db: Connection, actor: Actor, subject: Exported, params: ExportProject) -> None:
    """Enqueue an export; the file of the previous one stays until it is replaced."""
    count_within_limit(db, f"export by {actor.user_id}", _STARTS_PER_MINUTE, 60)
    upload = None if params.upload is None else db.vault.seal(msgspec.json.encode(params.upload).decode())
    export_id = _put_export(db, actor, subject, "", description=params.description, sealed_upload=upload)
    enqueue(db, EXPORT_ARCHIVE, export_id, unique_key=f"{JOB_KEY}{export_id}")


def start_relation_exports(
    db: Connection, actor: Actor, subject: Exported, relations: Collection[str], *, batched: bool
) -> None:
    """Enqueue the export of each relation to a file of its own."""
    count_within_limit(db, f"export by {actor.user_id}", _STARTS_PER_MINUTE, 60)
    ids = [_put_export(db, actor, subject, relation, batched=batched) for relation in relations]
    enqueue(db, EXPORT_RELATIONS, ids)


def _put_export(db: Connection, actor: Actor, subject: Exported, relation: str, **columns: object) -> int:
    """Insert or reset the row of an export; return its id."""
    existing = exports_of_user(db, subject, actor.user_id).get(relation)
    columns = {**columns, "status": "queued", "error": None, "updated_at": db.now}
    if existing is not None:
        db.update(exports, existing.id, **columns)
        return existing.id
    owner = {owner_column(subject): subject.id, "user_id": actor.user_id, "relation": relation}
    return db.insert(exports, **owner, created_at=db.now, **columns)


def mark_started(db: Connection, export_id: int) -> Export | None:
    """Mark an export as started; return None if it has ended or was deleted."""
    export = export_or_none(db, export_id)
    if export is None or export.status not in ("queued", "started"):
        return None
    db.update(exports, export_id, status="started", updated_at=db.now)
    return export


def finish_export(db: Connection, export_id: int, file: ExportedFile) -> bool:
    """Record the file of an export; return False if the export was deleted meanwhile."""
    return bool(
        db.update_counted(
            exports,
            export_id,
            status="finished",
            storage_key=file.key,
            file_name=file.name,
            size=file.size,
            objects_count=file.objects_count,
            sealed_upload=None,
            updated_at=db.now,
            expires_at=add_duration(db.now, days=KEPT_DAYS),
        )
    )


def fail_export(db: Connection, export_id: int, reason: str) -> None:
    """Record why an export failed; the address of an upload, which may contain a credential, is forgotten."""
    columns = {"status": "failed", "error": reason, "sealed_upload": None, "updated_at": db.now}
    db.update(exports, export_id, **columns, expires_at=add_duration(db.now, days=KEPT_DAYS))


def fail_lost_exports(db: Connection) -> None:
    """Mark exports whose job no longer exists as failed; otherwise they would be pending forever."""
    for export in lost_exports(db):
        fail_export(db, export.id, _INTERRUPTED)


def delete_expired_exports(db: Connection) -> None:
    """Delete the rows of exports whose time has passed; the sweep deletes their files."""
    for export in expired_exports(db):
        db.delete(exports, export.id)
