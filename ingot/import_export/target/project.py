"""Target of the records of a project."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.git.core.repository import Repository
from ingot.import_export.links import fingerprint, linked, store_links
from ingot.import_export.records import (
    CommitNoteRecord,
    Kind,
    ProjectRecord,
    ReleaseRecord,
    SettingsRecord,
    StatusRecord,
)
from ingot.import_export.source import ProjectSource
from ingot.import_export.target.boards import store_boards
from ingot.import_export.target.commit_notes import store_commit_notes
from ingot.import_export.target.context import Change, StoreContext, StoredIds, texts_of
from ingot.import_export.target.deploy_keys import store_deploy_keys
from ingot.import_export.target.files import (
    CopiedFiles,
    FileStore,
    add_uploads,
    copy_files,
    known_uploads,
    name_in,
)
from ingot.import_export.target.hooks import store_hooks
from ingot.import_export.target.issue_links import store_issue_links
from ingot.import_export.target.issues import store_issues
from ingot.import_export.target.labels import store_labels
from ingot.import_export.target.members import store_members
from ingot.import_export.target.merge_requests import store_merge_requests
from ingot.import_export.target.milestones import store_milestones
from ingot.import_export.target.preparation import (
    Preparation,
    existing_commits,
    prepare_merge_requests,
    tags_among,
)
from ingot.import_export.target.protection import (
    store_protected_branches,
    store_protected_environments,
    store_protected_tags,
)
from ingot.import_export.target.releases import MAX_FILE_BYTES, release_files, store_releases
from ingot.import_export.target.schedules import store_schedules
from ingot.import_export.target.settings import read_avatar, store_settings
from ingot.import_export.target.snippets import store_snippets
from ingot.import_export.target.statuses import store_statuses
from ingot.import_export.target.text import MentionedUser, TextRewriter, attachment_links, mentioned_names
from ingot.import_export.target.variables import store_badges, store_variables
from ingot.import_export.users import UserMapping, referenced_users
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.api import max_upload_bytes


class StoredBatch(NamedTuple):
    """Result of a batch: numbers of records, and sentences about records that differ from the source."""

    created: int
    updated: int
    unchanged: int
    problems: list[str]


class RecordFamily(NamedTuple):
    """Storage of one kind of records: the key of a record, and the function that stores changes."""

    key: Callable[[Any], str]
    store: Callable[[StoreContext, Sequence[Change]], StoredIds]


def _own_key(record: Any) -> str:
    return str(record.key)


_FAMILIES: Mapping[Kind, RecordFamily] = {
    "settings": RecordFamily(lambda _: "", store_settings),
    "members": RecordFamily(lambda record: record.user.key, store_members),
    "labels": RecordFamily(_own_key, store_labels),
    "milestones": RecordFamily(_own_key, store_milestones),
    "issues": RecordFamily(_own_key, store_issues),
    "merge_requests": RecordFamily(_own_key, store_merge_requests),
    "issue_links": RecordFamily(_own_key, store_issue_links),
    "boards": RecordFamily(_own_key, store_boards),
    "releases": RecordFamily(lambda record: record.tag, store_releases),
    "snippets": RecordFamily(_own_key, store_snippets),
    "commit_notes": RecordFamily(_own_key, store_commit_notes),
    "protected_branches": RecordFamily(lambda record: record.name, store_protected_branches),
    "protected_tags": RecordFamily(lambda record: record.name, store_protected_tags),
    "protected_environments": RecordFamily(lambda record: record.name, store_protected_environments),
    "hooks": RecordFamily(_own_key, store_hooks),
    "deploy_keys": RecordFamily(_own_key, store_deploy_keys),
    "variables": RecordFamily(lambda record: f"{record.name} {record.environment_scope}", store_variables),
    "badges": RecordFamily(_own_key, store_badges),
    "statuses": RecordFamily(_own_key, store_statuses),
    "schedules": RecordFamily(_own_key, store_schedules),
}


class ProjectTarget:
    """Project of this instance into which the records of one project of a source are stored.

    ``source_url`` is the address of the project's page at the source, if it has one.
    """

    def __init__(
        self,
        import_id: int,
        project_id: int,
        users: UserMapping,
        files: FileStore,
        *,
        source_url: str | None = None,
    ) -> None:
        self._import_id = import_id
        self._project_id = project_id
        self._users = users
        self._files = files
        self._source_url = source_url
        self._preparation = Preparation()

    def prepare(self, database: Database, source: ProjectSource, kind: Kind, records: Sequence[ProjectRecord]) -> None:
        """Do the slow work for a batch before its transaction: copy files, and compare and retain commits."""
        self._preparation = Preparation()

        def read(db: Connection) -> tuple[list[ProjectRecord], set[str], Project, int]:
            changed = [change.record for change in self._changes(db, kind, records)]
            links = attachment_links(text for record in changed for text in texts_of(record))
            links += [
                file.link for record in changed if isinstance(record, ReleaseRecord) for file in release_files(record)
            ]
            known = known_uploads(db, self._import_id, links) if links else {}
            return changed, set(known), existing_project(db, self._project_id), max_upload_bytes(db)

        changed, known, project, limit = database.read(read)
        if changed:
            copied = self._copy_files(source, changed, known, limit)
            repository = self._files.repositories.open(project.repository_key)
            self._preparation = _prepared(source, kind, changed, repository, copied)

    def _copy_files(
        self, source: ProjectSource, records: Sequence[ProjectRecord], known: set[str], limit: int
    ) -> CopiedFiles:
        texts = (text for record in records for text in texts_of(record))
        links = [(link, name_in(link)) for link in attachment_links(texts) if link not in known]
        copied = copy_files(source, self._files.uploads, self._project_id, links, limit)
        assets = [
            (file.link, file.name)
            for record in records
            if isinstance(record, ReleaseRecord)
            for file in release_files(record)
            if file.link not in known
        ]
        released = copy_files(source, self._files.uploads, self._project_id, assets, MAX_FILE_BYTES)
        return CopiedFiles({**copied.files, **released.files}, copied.problems + released.problems)

    def store(self, db: Connection, kind: Kind, records: Sequence[ProjectRecord]) -> StoredBatch:
        """Store a batch within the caller's transaction; records that have not changed cause no write.

        A batch without records says that the source has none.
        """
        changes = self._changes(db, kind, records)
        if not changes and (records or kind != "protected_branches"):
            return StoredBatch(0, 0, len(records), [])
        context = self._context(db, changes)
        ids = _FAMILIES[kind].store(context, changes)
        rows = [(change.key, ids.get(change.key) or 0, change.fingerprint) for change in changes]
        store_links(db, self._import_id, kind, rows)
        created = sum(not change.local_id and bool(ids.get(change.key)) for change in changes)
        updated = sum(bool(change.local_id) for change in changes)
        return StoredBatch(created, updated, len(records) - len(changes), context.problems)

    def _changes(self, db: Connection, kind: Kind, records: Sequence[ProjectRecord]) -> list[Change]:
        """Return the records that are new or differ from the last run; of several with the same key the last."""
        by_key = {_FAMILIES[kind].key(record): record for record in records}
        links = linked(db, self._import_id, kind, list(by_key))
        changes = []
        for key, record in by_key.items():
            digest, link = fingerprint(record), links.get(key)
            if link is None or link.fingerprint != digest:
                changes.append(Change(key, record, digest, link.local_id or None if link else None))
        return changes

    def _context(self, db: Connection, changes: Sequence[Change]) -> StoreContext:
        records = [change.record for change in changes]
        project = existing_project(db, self._project_id)
        users = self._users.resolve(db, referenced_users(records).values())
        texts = [text for record in records for text in texts_of(record)]
        names = mentioned_names(texts)
        mentioned = self._users.by_username(db, names) if names else {}
        links = attachment_links(texts)
        uploads = known_uploads(db, self._import_id, links) if links else {}
        copied, importer_id = self._preparation.copied, self._users.importer_id
        if copied.files:
            uploads |= add_uploads(db, self._import_id, project.id, importer_id, copied.files)
        rewriter = TextRewriter(
            self._source_url,
            f"{self._files.base_url}/{project.full_path}",
            uploads,
            {name: MentionedUser(*user) for name, user in mentioned.items()},
        )
        context = StoreContext(
            db, self._import_id, project, importer_id, self._files, users, rewriter, self._preparation, uploads
        )
        context.problems += copied.problems
        return context


def _prepared(
    source: ProjectSource, kind: Kind, records: Sequence[Any], repository: Repository, copied: CopiedFiles
) -> Preparation:
    if kind == "merge_requests":
        return Preparation(copied, merge_requests=prepare_merge_requests(repository, records))
    if kind == "commit_notes":
        comments = cast("Sequence[CommitNoteRecord]", records)
        return Preparation(copied, commits=existing_commits(repository, (each.sha for each in comments), pin=True))
    if kind == "statuses":
        statuses = cast("Sequence[StatusRecord]", records)
        commits = existing_commits(repository, (status.sha for status in statuses), pin=True)
        return Preparation(copied, commits=commits, tags=tags_among(repository, (status.ref for status in statuses)))
    if kind == "settings":
        settings = cast("Sequence[SettingsRecord]", records)
        return Preparation(copied, avatar=read_avatar(source, settings[0].avatar))
    return Preparation(copied)
