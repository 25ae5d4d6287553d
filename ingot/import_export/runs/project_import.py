"""Import of one project: destination, repositories, then each kind of records in batches."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import msgspec

from ingot.accounts.instance.all_settings import all_settings
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.errors import Conflict, Invalid, Unavailable
from ingot.core.log import log_failure
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.git.core.repository import Repository
from ingot.git.core.shared_disks import file_lock
from ingot.git.maintenance.store import new_key
from ingot.import_export.records import KINDS, Kind, ProjectRecord, SettingsRecord
from ingot.import_export.runs.destinations import create_destination, existing_destination_or_none
from ingot.import_export.runs.documents import (
    NOTE_KINDS,
    EntityProgress,
    KindProgress,
    RunOptions,
    encoded,
    inventory_of,
    progress_of,
)
from ingot.import_export.runs.lfs import import_lfs_objects
from ingot.import_export.runs.opening import source_host
from ingot.import_export.runs.optional_parts import RepositoryBusy, optional_part, skips_temporary_failures
from ingot.import_export.runs.queries import entity_or_none, imported_source, link_counts, root_namespace_id
from ingot.import_export.runs.repositories import (
    FetchMonitor,
    fetch_repository,
    imported_refs,
    store_imported_refs,
    update_repository,
)
from ingot.import_export.runs.service import (
    Position,
    RunSuperseded,
    add_problems,
    advance_entity,
    begin_entity,
    finish_entity,
    set_entity,
)
from ingot.import_export.source import (
    Inventory,
    LfsObjectSource,
    ProjectSource,
    RepositoryLocation,
    SourceError,
)
from ingot.import_export.tables import ImportEntity, ImportRun
from ingot.import_export.target.files import FileStore
from ingot.import_export.target.mentions import resolve_mentions
from ingot.import_export.target.project import ProjectTarget
from ingot.import_export.users import UserMapping, importer_of, referenced_users
from ingot.projects.imports.jobs import import_result_of
from ingot.projects.projects.jobs import delete_unused_repository
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.storages import storage_for_new_repository
from ingot.projects.projects.tables import Project, projects
from ingot.repositories.lfs.files import LfsFiles
from ingot.repositories.wikis.edit import ensure_wiki

STEPS: tuple[str, ...] = ("repository", "wiki", "lfs", *KINDS)
CANCEL_CHECK_SECONDS = 0.5
PROGRESS_SECONDS = 1.0
CLOCK_DIFFERENCE_MINUTES = 10
"""A repeated run requests changes from this much earlier, because the clocks of the servers may differ."""
LOCK_RETRY_SECONDS = 30.0
_REQUIRED_STEPS = frozenset({"repository", "settings"})
"""Steps without which the rest is of no use; a failure of any other is reported, and the import goes on."""
_UNDER_NAMESPACE_LOCK = frozenset({"settings", "members"})


class ImportFiles(NamedTuple):
    """Places where the files of an import are stored."""

    store: FileStore
    lfs: LfsFiles


class ProjectImporter:
    """Imports one project, from the position at which an earlier attempt stopped."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        files: ImportFiles,
        guard: Any,
        run: ImportRun,
        options: RunOptions,
        entity: ImportEntity,
        actor: Actor,
        source: ProjectSource,
    ) -> None:
        self._database = database
        self._settings = settings
        self._files = files
        self._guard = guard
        self._run = run
        self._options = options
        self._entity = entity
        self._actor = actor
        self._source = source
        self.on_progress: Callable[[ImportEntity], None] = lambda _: None
        """Called after each batch."""
        self._requests = 0
        self._since_commit = monotonic()
        self._next_check = 0.0
        self._next_progress = 0.0
        self._first = True

    def run(self) -> None:
        """Import everything that is missing; raise SourceError if the source fails, RunSuperseded if it is canceled."""
        self._entity = self._database.write(partial(begin_entity, entity=self._entity))
        skips_temporary_failures(self._database, self._entity, self._source)
        inventory = self._plan()
        project = self._destination(inventory)
        import_id = self._entity.import_id
        if import_id is None:
            raise RunSuperseded
        target = self._target(import_id, project, inventory)
        if self._users.has_chosen:
            self._database.write(self._users.apply_chosen)
        complete_since = self._database.read(partial(imported_source, import_id=import_id)).complete_since
        self._first = complete_since is None
        since = complete_since and add_duration(complete_since, minutes=-CLOCK_DIFFERENCE_MINUTES)
        position = Position(self._entity.step or STEPS[0], self._entity.cursor)
        for step in STEPS[STEPS.index(position.step or STEPS[0]) :]:
            optional = optional_part(self._database, self._entity, self._source, step)
            with nullcontext() if step in _REQUIRED_STEPS else optional:
                if step in KINDS:
                    self._import_kind(target, step, since)
                else:
                    self._import_git(step, project, import_id)
            self._advance(Position(_following(step), None))
        self._finish(import_id)

    def _plan(self) -> Inventory:
        known = inventory_of(self._entity)
        if known is not None:
            return known
        inventory = self._source.inventory()
        progress = progress_of(self._entity)
        progress.kinds = {each.kind: KindProgress(source=each.count, exact=each.exact) for each in inventory.counts}

        def store(db: Connection) -> None:
            columns = {"inventory_document": encoded(inventory), "progress_document": encoded(progress)}
            set_entity(db, self._entity, source_full_path=inventory.full_path, **columns)

        self._database.write(store)
        self._reload()
        return inventory

    def _destination(self, inventory: Inventory) -> Project:
        """Return the project that the source is imported into; create it if the request did not."""
        if self._entity.project_id is None:
            self._create_destination(inventory)
            self._reload()
        project_id = self._entity.project_id
        project = None if project_id is None else self._database.read(partial(project_or_none, project_id=project_id))
        if project is None or project.namespace_id is None:
            raise SourceError("The project was deleted")
        if self._is_first and project.import_status != "started":
            columns = {"import_status": "started", "import_type": self._run.source_type, "import_error": None}
            self._database.write(lambda db: db.update(projects, project.id, **columns))
        return project

    def _create_destination(self, inventory: Inventory) -> None:
        host = source_host(self._run)
        entity, actor, run, database = self._entity, self._actor, self._run, self._database
        found = database.read(lambda db: existing_destination_or_none(db, actor, entity, host, inventory))
        if found is not None:
            database.write(lambda db: set_entity(db, entity, project_id=found.project_id, import_id=found.import_id))
            return
        store = self._files.store.repositories
        branch = database.read(all_settings).default_branch_name or self._settings.default_branch
        key = new_key(storage_for_new_repository(database, store))
        store.create(key, branch)
        try:
            database.write(
                lambda db: create_destination(
                    db, actor, run, entity, host, inventory, key, branch, self._options.visibility
                )
            )
        except BaseException:
            delete_unused_repository(database, store, key)
            raise

    @property
    def _is_first(self) -> bool:
        import_id = self._entity.import_id
        if import_id is None:
            return True
        return self._database.read(partial(imported_source, import_id=import_id)).complete_since is None

    def _target(self, import_id: int, project: Project, inventory: Inventory) -> ProjectTarget:
        root = self._database.read(partial(root_namespace_id, full_path=project.full_path))
        self._users = UserMapping(
            source_host(self._run, project.id), root, importer_of(self._actor), self._options.users
        )
        web_url = f"{self._run.source_url.rstrip('/')}/{inventory.full_path}"
        source_url = None if self._run.source_type == "archive" else web_url
        return ProjectTarget(import_id, project.id, self._users, self._files.store, source_url=source_url)

    def _import_git(self, step: str, project: Project, import_id: int) -> None:
        location = self._source.wiki() if step == "wiki" else self._source.repository()
        if location is None:
            return
        if step == "lfs":
            self._import_lfs(project, location)
            return
        repositories = self._files.store.repositories
        if step == "wiki":
            repository = ensure_wiki(self._database, repositories, project)
        else:
            repository = repositories.open(project.repository_key)
        kind = "wiki_refs" if step == "wiki" else "refs"
        with file_lock(repository.path / "ingot-import", wait=False) as locked:
            if not locked:
                # The worker of an expired lease still fetches; its lock ends with its process.
                raise RepositoryBusy("Another process imports the repository", retry_after=LOCK_RETRY_SECONDS)
            refs, problems = self._fetch(repository, location, import_id, kind)
        result = import_result_of(repository)

        def store(db: Connection) -> None:
            store_imported_refs(db, import_id, kind, refs)
            add_problems(db, self._entity.id, step, problems)
            current = project_or_none(db, project.id)
            if step == "repository" and current is not None:
                db.update(projects, project.id, **result._asdict(), generation=current.generation + 1)

        self._database.write(store)

    def _fetch(
        self, repository: Repository, location: RepositoryLocation, import_id: int, kind: str
    ) -> tuple[dict[str, str], list[str]]:
        monitor = FetchMonitor(self._report_progress, self._check_wanted)
        known = self._database.read(lambda db: imported_refs(db, import_id, kind))
        # Until the first import is complete, no other process writes to the repository.
        if self._is_first or location.bundle:
            return fetch_repository(repository, location, self._guard, monitor), []
        return update_repository(repository, location, self._guard, monitor, known)

    def _import_lfs(self, project: Project, location: RepositoryLocation) -> None:
        if not location.lfs and not isinstance(self._source, LfsObjectSource):
            return
        repository = self._files.store.repositories.open(project.repository_key)
        count, problems = import_lfs_objects(
            self._database,
            self._files.lfs,
            project,
            repository,
            self._source,
            location,
            self._guard,
            self._check_wanted,
        )
        progress = progress_of(self._entity)
        progress.kinds["lfs_objects"] = KindProgress(source=count + len(problems), fetched=count, created=count)
        self._database.write(lambda db: add_problems(db, self._entity.id, "lfs_objects", problems))
        self._advance(Position("lfs", self._entity.cursor), progress)

    def _import_kind(self, target: ProjectTarget, kind: Kind, since: str | None) -> None:
        if kind == "members" and self._omits_members():
            return
        cursor = self._entity.cursor if self._entity.step == kind else None
        for batch in self._source.batches(kind, cursor, since):
            self._check_wanted()
            records = [self._adapted(record) for record in batch.records]
            self._store_batch(target, kind, records, batch.cursor)

    def _omits_members(self) -> bool:
        """Return whether the members are not wanted, of this project or of the group that it was found in."""
        parent_id, omitted = self._entity.parent_id, self._options.without_members
        parent = None if parent_id is None else self._database.read(partial(entity_or_none, entity_id=parent_id))
        return self._entity.source_key in omitted or (parent is not None and parent.source_key in omitted)

    def _adapted(self, record: ProjectRecord) -> ProjectRecord:
        if not isinstance(record, SettingsRecord):
            return record
        attributes = {**record.attributes, **self._options.overrides}
        if self._options.visibility is not None:
            attributes["visibility"] = self._options.visibility
        return msgspec.structs.replace(record, attributes=attributes)

    def _store_batch(self, target: ProjectTarget, kind: Kind, records: list[ProjectRecord], cursor: str) -> None:
        target.prepare(self._database, self._source, kind, records)
        mentioned = referenced_users(records).values()
        if self._database.read(lambda db: self._users.has_unknown(db, mentioned)):
            self._database.write(lambda db: self._users.resolve(db, mentioned))
        old, new = self._position, Position(kind, cursor)
        left_out = self._source.take_problems()

        def store(db: Connection) -> None:
            if kind in _UNDER_NAMESPACE_LOCK:
                db.lock(NAMESPACES)
            stored = target.store(db, kind, records)
            progress = self._updated_progress()
            numbers = progress.kinds.setdefault(kind, KindProgress(exact=False))
            numbers.fetched += len(records)
            numbers.created += stored.created
            numbers.updated += stored.updated
            numbers.unchanged += stored.unchanged
            self._count_notes(progress, kind, records)
            add_problems(db, self._entity.id, kind, [*left_out, *stored.problems])
            advance_entity(db, self._entity, old, new, progress)

        self._database.write(store)
        self._committed()

    def _count_notes(self, progress: EntityProgress, kind: Kind, records: Sequence[ProjectRecord]) -> None:
        """Count received notes; sources do not name their total, so only the first run can be compared."""
        if kind not in NOTE_KINDS:
            return
        count = sum(len(discussion.notes) for record in records for discussion in getattr(record, "discussions", ()))
        numbers = progress.kinds.setdefault(NOTE_KINDS[kind], KindProgress(exact=self._first))
        numbers.fetched += count
        numbers.source += count

    @property
    def _position(self) -> Position:
        return Position(self._entity.step, self._entity.cursor)

    def _advance(self, new: Position, progress: EntityProgress | None = None) -> None:
        old, stored = self._position, progress or self._updated_progress()
        self._database.write(lambda db: advance_entity(db, self._entity, old, new, stored))
        self._committed()

    def _updated_progress(self) -> EntityProgress:
        progress = progress_of(self._entity)
        progress.message = None
        progress.waits = 0
        progress.requests += self._source.request_count() - self._requests
        progress.seconds = round(progress.seconds + monotonic() - self._since_commit, 3)
        return progress

    def _committed(self) -> None:
        self._requests = self._source.request_count()
        self._since_commit = monotonic()
        self._reload()

    def _reload(self) -> None:
        entity = self._database.read(partial(entity_or_none, entity_id=self._entity.id))
        if entity is None or entity.status != "started":
            raise RunSuperseded
        self._entity = entity
        self.on_progress(entity)

    def _finish(self, import_id: int) -> None:
        progress = self._updated_progress()

        def store(db: Connection) -> None:
            current = entity_or_none(db, self._entity.id)
            if current is None or current.status != "started":
                raise RunSuperseded
            if current.project_id is not None:
                resolve_mentions(db, current.project_id)
            progress.stored = link_counts(db, import_id)
            finish_entity(db, current, progress)

        self._database.write(store)

    def _check_wanted(self) -> None:
        """Raise RunSuperseded if the run was canceled, or its project deleted; asks the database now and then."""
        if monotonic() < self._next_check:
            return
        self._next_check = monotonic() + CANCEL_CHECK_SECONDS
        try:
            entity = self._database.read(partial(entity_or_none, entity_id=self._entity.id))
        except Unavailable as error:  # The import goes on, and asks again.
            log_failure("import does not know whether it is wanted", error, run_id=self._run.id)
            return
        if entity is None or entity.status != "started" or entity.project_id is None:
            raise RunSuperseded

    def _report_progress(self, text: str) -> None:
        """Store the progress line of git, at most once a second."""
        if monotonic() < self._next_progress:
            return
        self._next_progress = monotonic() + PROGRESS_SECONDS
        progress = progress_of(self._entity)
        progress.message = text
        try:
            self._database.write(lambda db: set_entity(db, self._entity, progress_document=encoded(progress)))
        except (Unavailable, Conflict, Invalid) as error:  # Progress is not worth losing an import for.
            log_failure("progress of an import not stored", error, run_id=self._run.id)


def _following(step: str) -> str:
    index = STEPS.index(step) + 1
    return STEPS[index] if index < len(STEPS) else "report"
