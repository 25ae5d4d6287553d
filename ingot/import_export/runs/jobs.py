"""Background job that executes an import; it continues where it stopped, and waits when the source asks for it."""

from collections.abc import Callable
from contextlib import closing
from functools import partial

from ingot.accounts.users.actors import active_actor
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from ingot.core.jobs.handlers import RetryLater
from ingot.core.log import log_failure
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.settings import Settings
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.maintenance.store import RepositoryStore
from ingot.import_export.runs.documents import EntityProgress, encoded, options_of, progress_of
from ingot.import_export.runs.group_import import GroupImporter
from ingot.import_export.runs.opening import SourceOpener
from ingot.import_export.runs.optional_parts import INTERNAL_ERROR, sentence_of
from ingot.import_export.runs.project_import import ImportFiles, ProjectImporter
from ingot.import_export.runs.queries import entities_of, entity_or_none
from ingot.import_export.runs.service import (
    RunSuperseded,
    begin_run,
    credentials_of,
    fail_entity,
    finish_run,
    set_entity,
)
from ingot.import_export.source import SourceError
from ingot.import_export.tables import ImportEntity, ImportRun
from ingot.import_export.target.files import FileStore
from ingot.projects.uploads.files import upload_files
from ingot.repositories.lfs.files import lfs_files_of

MIN_WAIT_SECONDS = 1.0
MAX_WAIT_SECONDS = 3600.0
DATABASE_WAIT_SECONDS = 5.0
INACTIVE = "The user who started the import is not active"


class ImportRunJob:
    """Handler of the job of a run."""

    def __init__(
        self,
        settings: Settings,
        store: RepositoryStore,
        guard: SsrfGuard,
        *,
        on_progress: Callable[[ImportEntity], None] = lambda _: None,
    ) -> None:
        self._on_progress = on_progress
        self._settings = settings
        self._guard = guard
        self._files = ImportFiles(FileStore(upload_files(settings), store, settings.base_url), lfs_files_of(settings))

    def run(self, database: Database, payload: dict[str, int]) -> None:
        """Import all entities of a run that are not finished; raise RetryLater while the source is not available."""
        try:
            run = database.write(partial(begin_run, run_id=payload["run_id"]))
            while (entity := database.read(partial(_next_entity, run_id=run.id))) is not None:
                self._import(database, run, entity)
            database.write(partial(finish_run, run_id=run.id))
        except RunSuperseded:
            return
        self._opener(database).delete_archive(options_of(run).archive)

    def _opener(self, database: Database) -> SourceOpener:
        return SourceOpener(self._settings, self._guard, database)

    def _import(self, database: Database, run: ImportRun, entity: ImportEntity) -> None:
        def fail(reason: str) -> None:
            database.write(partial(fail_entity, entity=entity, reason=reason))

        try:
            actor = database.read(partial(active_actor, user_id=run.user_id))
            if actor is None:
                fail(INACTIVE)
                return
            self._import_as(database, run, entity, actor)
        except (RunSuperseded, RetryLater):
            raise
        except SourceError as error:
            if error.retry_after is None:
                fail(error.reason)
                return
            database.write(partial(_record_wait, entity=entity, reason=error.reason))
            raise RetryLater(min(max(error.retry_after, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)) from error
        except (Invalid, Denied, NotFound, Conflict) as error:
            fail(sentence_of(error))
        except Unavailable as error:
            raise RetryLater(DATABASE_WAIT_SECONDS) from error
        except (GitError, MissingRepository, OSError) as error:
            log_failure("import failed", error, run_id=run.id, entity_id=entity.id)
            fail("The repository could not be stored")
        except Exception as error:  # noqa: BLE001 - Other entities of the run are still imported.
            log_failure("import failed", error, run_id=run.id, entity_id=entity.id)
            fail(INTERNAL_ERROR)

    def _import_as(self, database: Database, run: ImportRun, entity: ImportEntity, actor: Actor) -> None:
        options, credentials = options_of(run), database.read(partial(credentials_of, run=run))
        opener = self._opener(database)
        if entity.entity_type == "group_entity":
            with closing(opener.group_of_run(run, options, credentials.token, entity.source_key)) as group:
                repositories = self._files.store.repositories
                GroupImporter(database, run, options, entity, actor, group, repositories).run()
            return
        with closing(opener.project(run, options, credentials, entity.source_key)) as source:
            importer = ProjectImporter(
                database, self._settings, self._files, self._guard, run, options, entity, actor, source
            )
            importer.on_progress = self._on_progress
            importer.run()


def _next_entity(db: Connection, run_id: int) -> ImportEntity | None:
    opened = (entity for entity in entities_of(db, run_id) if entity.status in ("created", "started"))
    return next(opened, None)


def _record_wait(db: Connection, entity: ImportEntity, reason: str) -> None:
    current = entity_or_none(db, entity.id)
    if current is not None and current.status == "started":
        progress: EntityProgress = progress_of(current)
        progress.message = f"Waiting for the source: {reason.rstrip('.')}."
        progress.waits += 1
        set_entity(db, current, progress_document=encoded(progress))
