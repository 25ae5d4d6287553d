"""Import of a group with its subgroups; the projects below it become entities of their own."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict
from ingot.core.names import NAMESPACES
from ingot.git.maintenance.bundles import fetch_bundle
from ingot.git.maintenance.store import RepositoryStore
from ingot.import_export.records import GroupRecord
from ingot.import_export.runs.destinations import group_parent
from ingot.import_export.runs.documents import EntityProgress, RunOptions, progress_of
from ingot.import_export.runs.opening import source_host
from ingot.import_export.runs.optional_parts import optional_part, skips_temporary_failures
from ingot.import_export.runs.queries import entities_of, root_namespace_id, source_of_group_or_none
from ingot.import_export.runs.service import (
    EntityRequest,
    add_entity,
    add_problems,
    begin_entity,
    finish_entity,
    link_source,
    set_entity,
)
from ingot.import_export.source import GroupSource, GroupWikiSource, SourceError
from ingot.import_export.tables import ImportEntity, ImportRun, imported_sources
from ingot.import_export.target.groups import GroupTarget
from ingot.import_export.target.settings import read_avatar
from ingot.import_export.users import UserMapping, importer_of, referenced_users
from ingot.projects.namespaces.queries import namespace_by_id, namespace_by_path
from ingot.projects.namespaces.tables import Namespace
from ingot.repositories.wikis.edit import ensure_wiki


class _Root(NamedTuple):
    """Destination of the first group: an id once it exists."""

    parent: Namespace | None
    import_id: int
    namespace_id: int | None


class GroupImporter:
    """Imports a group; running it again after an interruption repeats nothing that is stored."""

    def __init__(
        self,
        database: Database,
        run: ImportRun,
        options: RunOptions,
        entity: ImportEntity,
        actor: Actor,
        source: GroupSource,
        store: RepositoryStore,
    ) -> None:
        self._database = database
        self._run = run
        self._options = options
        self._entity = entity
        self._actor = actor
        self._source = source
        self._repositories = store
        self._paths: dict[str, str] = {}

    def run(self) -> None:
        """Import the groups, and add an entity for each project."""
        self._entity = self._database.write(partial(begin_entity, entity=self._entity))
        skips_temporary_failures(self._database, self._entity, self._source)
        root: _Root | None = None
        for each in self._source.groups():
            without_members = self._entity.source_key in self._options.without_members
            record = msgspec.structs.replace(each, members=[]) if without_members else each
            if root is None:
                root = self._database.write(partial(self._destination, record=record))
            root = self._store(record, root)
            with optional_part(self._database, self._entity, self._source, "groups"):
                self._import_wiki(record)
        if self._entity.source_key not in self._options.without_projects:
            keys = list(self._source.project_keys())
            self._database.write(partial(self._add_projects, keys=keys))
        self._database.write(self._finish)

    def _destination(self, db: Connection, record: GroupRecord) -> _Root:
        """Return where the group is imported to; a group of another origin at that path is refused."""
        db.lock(NAMESPACES)
        parent = group_parent(db, self._actor, self._entity.destination_namespace)
        slug, host = self._entity.destination_slug, source_host(self._run)
        if self._entity.import_id is not None:
            return _Root(parent, self._entity.import_id, self._entity.namespace_id)
        existing = namespace_by_path(db, f"{parent.full_path}/{slug}" if parent else slug)
        if existing is not None:
            source = source_of_group_or_none(db, existing.id)
            if source is None or (source.source_host, source.source_key) != (host, record.key):
                raise Conflict(path=["has already been taken"])
            set_entity(db, self._entity, import_id=source.id, namespace_id=existing.id)
            return _Root(parent, source.id, existing.id)
        import_id = link_source(db, self._run.source_type, host, record.key)
        set_entity(db, self._entity, import_id=import_id, source_full_path=record.full_path)
        return _Root(parent, import_id, None)

    def _store(self, record: GroupRecord, root: _Root) -> _Root:
        avatar = read_avatar(self._source, record.avatar)

        def store(db: Connection) -> int:
            db.lock(NAMESPACES)
            if root.namespace_id is None and root.parent is None:
                # The users are mapped below the root namespace, which has to exist first.
                first = self._target(root, 0).store(db, msgspec.structs.replace(record, members=[]), avatar)
                namespace_id = first.group_id
            else:
                path = root.parent.full_path if root.parent else self._entity.destination_slug
                namespace_id = root_namespace_id(db, path)
            self._users(namespace_id).resolve(db, referenced_users([record]).values())
            stored = self._target(root, namespace_id).store(db, record, avatar)
            add_problems(db, self._entity.id, "groups", stored.problems)
            if root.namespace_id is None:
                db.update(imported_sources, root.import_id, group_id=stored.group_id)
                set_entity(db, self._entity, namespace_id=stored.group_id)
            self._paths[record.full_path] = namespace_by_id(db, stored.group_id).full_path
            return stored.group_id

        group_id = self._database.write(store)
        return root if root.namespace_id is not None else root._replace(namespace_id=group_id)

    def _import_wiki(self, record: GroupRecord) -> None:
        """Import the wiki of a group that has been stored; one with pages here is left as it is."""
        location = self._source.wiki_of(record.key) if isinstance(self._source, GroupWikiSource) else None
        group = self._database.read(partial(namespace_by_path, full_path=self._paths[record.full_path]))
        if location is None or group is None:
            return
        repository = ensure_wiki(self._database, self._repositories, group)
        if not repository.is_empty():
            return
        reason = fetch_bundle(repository.path, Path(location.url))
        if reason is not None:
            raise SourceError(f"The wiki of {group.full_path}: {reason}")

    def _users(self, namespace_id: int) -> UserMapping:
        host = source_host(self._run, f"group {self._entity.namespace_id}")
        return UserMapping(host, namespace_id, importer_of(self._actor), self._options.users)

    def _target(self, root: _Root, namespace_id: int) -> GroupTarget:
        users = self._users(namespace_id)
        slug = self._entity.destination_slug
        return GroupTarget(root.import_id, self._actor, root.parent, slug, users, root.namespace_id)

    def _add_projects(self, db: Connection, keys: list[tuple[str, str]]) -> None:
        known = {entity.source_key for entity in entities_of(db, self._run.id)}
        for key, full_path in keys:
            parent, _, slug = full_path.rpartition("/")
            if key not in known and parent in self._paths:
                request = EntityRequest("project_entity", key, self._paths[parent], slug)
                add_entity(db, self._run.id, request, self._entity.id)

    def _finish(self, db: Connection) -> None:
        progress: EntityProgress = progress_of(self._entity)
        finish_entity(db, self._entity, progress)
