"""Background jobs that write the files of exports, and delete those that are no longer needed."""

from collections.abc import Sequence
from functools import partial
from typing import Any, BinaryIO

import msgspec

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.users.actors import active_actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.core.jobs.queue import enqueue
from ingot.core.outgoing.guard import SsrfGuard
from ingot.git.core.errors import MissingRepository
from ingot.import_export.exports import service
from ingot.import_export.exports.archive_writer import ExportWriter, scratch_folder
from ingot.import_export.exports.group_archive import GroupArchive
from ingot.import_export.exports.params import UploadTarget
from ingot.import_export.exports.project_archive import ProjectArchive, ProjectFiles
from ingot.import_export.exports.queries import existing_keys
from ingot.import_export.exports.relations import relation_file_name, relation_writer
from ingot.import_export.exports.rows import RowReader
from ingot.import_export.exports.store import ExportStore, WrittenFile
from ingot.import_export.exports.tables import Export
from ingot.import_export.exports.upload import upload_archive
from ingot.projects.groups.policy import may_admin_group
from ingot.projects.groups.queries import find_group
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import projects

SWEEP_EXPORTS = "sweep_exports"
SWEEP_AFTER_SECONDS = 3600
"""Age from which a file without a row is deleted; the row of a younger one may be about to be written."""
_MAX_NAME_LENGTH = 50


def enqueue_export_sweep(db: Connection) -> None:
    """Delete the rows of expired exports, and enqueue the deletion of files without a row."""
    service.delete_expired_exports(db)
    enqueue(db, SWEEP_EXPORTS, None, unique_key=SWEEP_EXPORTS)


class ExportJobs:
    """Handlers of export jobs; idempotent, they start again after a crash."""

    def __init__(self, store: ExportStore, files: ProjectFiles, guard: SsrfGuard) -> None:
        self._store = store
        self._files = files
        self._guard = guard

    def write_archive(self, database: Database, export_id: int) -> None:
        """Write the archive of a project or group, and upload it if that was requested."""
        export = database.write(partial(service.mark_started, export_id=export_id))
        if export is None:
            return
        source = self._permitted_source(database, export)
        if source is None:
            return

        def write(target: BinaryIO) -> int:
            with scratch_folder(self._store.scratch) as folder:
                archive = ExportWriter(target, folder)
                count = source.write(archive, export.description)
                archive.close()
                return count

        self._store_file(database, export, write, _archive_name(database, export))

    def write_relations(self, database: Database, export_ids: Sequence[int]) -> None:
        """Write the files of relations."""
        source: ProjectArchive | GroupArchive | None = None
        for export_id in export_ids:
            export = database.write(partial(service.mark_started, export_id=export_id))
            if export is None:
                continue
            source = source or self._permitted_source(database, export)
            if source is not None:
                write = relation_writer(source, export.relation, self._store)
                self._store_file(database, export, write, relation_file_name(export.relation))

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete files of expired exports and deleted projects, and remains of crashes."""
        for keys in self._store.batches(SWEEP_AFTER_SECONDS):
            recorded = database.read(partial(existing_keys, keys=keys))
            for key in keys:
                if key not in recorded:
                    self._store.storage.delete(key)
        self._store.delete_remains(SWEEP_AFTER_SECONDS)

    def _permitted_source(self, database: Database, export: Export) -> ProjectArchive | GroupArchive | None:
        """Return the source of an export; fail the export if its user may not have it any more."""
        with_emails = database.read(partial(_permission, export=export))
        if with_emails is None:
            reason = "The user may no longer export this"
            database.write(partial(service.fail_export, export_id=export.id, reason=reason))
            return None
        reader = RowReader(database)
        if export.project_id is not None:
            return ProjectArchive(reader, self._files, export.project_id, with_emails=with_emails)
        return GroupArchive(reader, self._files.repositories, export.group_id or 0, with_emails=with_emails)

    def _store_file(self, database: Database, export: Export, write: Any, name: str) -> None:
        try:
            written = self._store.write(write)
        except MissingRepository:  # The project was deleted meanwhile, and its rows are about to be.
            database.write(partial(service.fail_export, export_id=export.id, reason="The project was deleted"))
            return
        reason = self._size_error(database, written) or self._upload(database, export, written)
        if reason is not None:
            self._store.storage.delete(written.key)
            database.write(partial(service.fail_export, export_id=export.id, reason=reason))
            return
        file = service.ExportedFile(written.key, name, written.size, written.result)
        recorded = database.write(partial(service.finish_export, export_id=export.id, file=file))
        obsolete = export.storage_key if recorded else written.key
        if obsolete is not None:
            self._store.storage.delete(obsolete)

    def _size_error(self, database: Database, written: WrittenFile) -> str | None:
        """Return the reason if an archive is larger than allowed."""
        limit = database.read(cached_all_settings).max_export_size
        return f"The archive is larger than {limit} MB" if limit and written.size > limit * 2**20 else None

    def _upload(self, database: Database, export: Export, written: WrittenFile) -> str | None:
        """Upload an archive if that was requested; return the reason if it failed."""
        if export.sealed_upload is None:
            return None
        target = msgspec.json.decode(database.vault.unseal(export.sealed_upload), type=UploadTarget)
        return upload_archive(target, self._guard, written.size, partial(self._store.storage.pieces, written.key))


def _permission(db: Connection, export: Export) -> bool | None:
    """Return whether addresses of users are exported, as for administrators; None if nothing may be."""
    actor = active_actor(db, export.user_id)
    if actor is None:
        return None
    try:
        if export.project_id is not None:
            access, project = find_project(db, actor, str(export.project_id))
            allowed = may_admin_project(actor, access, project)
        else:
            access, group = find_group(db, actor, str(export.group_id))
            allowed = may_admin_group(actor, access, group)
    except NotFound:
        return None
    return actor.admin if allowed else None


def _archive_name(database: Database, export: Export) -> str:
    """Return the name under which an archive is downloaded."""
    reader = RowReader(database)
    table, number = (projects, export.project_id) if export.project_id is not None else (namespaces, export.group_id)
    (row,) = reader.by_ids(table, [number or 0]).values()
    moment = export.updated_at[:16].replace("T", "_").replace(":", "-")
    stem = f"{moment}_{row['full_path'].replace('/', '_')}"
    return f"{stem[:_MAX_NAME_LENGTH]}_export.tar.gz"
