"""Project with an import whose records tests write by hand."""

import io
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any, cast

from sqlalchemy import func, select

from ingot.core.db.connection import Connection
from ingot.core.db.schema import all_tables
from ingot.core.names import NAMESPACES
from ingot.import_export.records import Kind, ProjectRecord
from ingot.import_export.source import ProjectSource
from ingot.import_export.tables import imported_sources
from ingot.import_export.target.files import FileStore
from ingot.import_export.target.project import ProjectTarget, StoredBatch
from ingot.import_export.users import Importer, UserMapping
from ingot.import_export.work_item_records import (
    DiscussionRecord,
    IssueRecord,
    MergeRequestRecord,
    NoteRecord,
    UserRecord,
)
from ingot.projects.projects.api import repository_store
from ingot.projects.uploads.files import upload_files
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project

ALICE = UserRecord(key="1", username="alice", name="Alice Source")
BOB = UserRecord(key="2", username="bob", name="Bob Source")
CREATED, UPDATED = "2020-01-02T03:04:05.678Z", "2021-02-03T04:05:06.789Z"
SOURCE_URL = "https://source.example/team/app"


def issue(iid: int, **fields: Any) -> IssueRecord:
    """Return the record of an issue by Alice."""
    given: dict[str, Any] = {
        "key": f"issue-{iid}",
        "iid": iid,
        "title": f"Issue {iid}",
        "author": ALICE,
        "created_at": CREATED,
        "updated_at": UPDATED,
    }
    return IssueRecord(**given | fields)


def merge_request(iid: int, **fields: Any) -> MergeRequestRecord:
    """Return the record of a merge request by Alice."""
    given: dict[str, Any] = {
        "key": f"mr-{iid}",
        "iid": iid,
        "title": f"Merge request {iid}",
        "author": ALICE,
        "created_at": CREATED,
        "updated_at": UPDATED,
        "source_branch": "feature",
        "target_branch": "master",
        "head_sha": None,
    }
    return MergeRequestRecord(**given | fields)


def note(key: str, body: str = "A note", **fields: Any) -> NoteRecord:
    """Return the record of a note by Bob."""
    given: dict[str, Any] = {"key": key, "author": BOB, "body": body, "created_at": CREATED, "updated_at": CREATED}
    return NoteRecord(**given | fields)


def comment(key: str, body: str = "A note", **fields: Any) -> DiscussionRecord:
    """Return a discussion of one note."""
    return DiscussionRecord(key=f"d-{key}", notes=[note(key, body, **fields)], individual_note=True)


class FileSource:
    """Source that only has files."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.opened: list[str] = []

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open a file by its link."""
        self.opened.append(link)
        return nullcontext(io.BytesIO(self.files[link])) if link in self.files else None


class ImportedProject:
    """Project into which a test stores records."""

    def __init__(
        self,
        instance: Instance,
        make: Make,
        project: Project,
        *,
        files: Mapping[str, bytes] | None = None,
        users: Mapping[str, User] | None = None,
    ) -> None:
        self.database = instance.app.database
        self.project = project
        self._make = make
        columns = {
            "project_id": project.id,
            "source_type": "gitlab",
            "source_host": "source.example",
            "source_key": str(project.id),
            "created_at": CREATED,
            "updated_at": CREATED,
        }
        self.import_id = self.database.write(lambda db: db.insert(imported_sources, **columns))
        chosen = {name: user.username for name, user in (users or {}).items()}
        # Mapped users are shared by all imports from one host.
        mapping = UserMapping(f"source-{project.id}.example", project.namespace_id, Importer(1, admin=True), chosen)
        self.source = FileSource(files or {})
        settings = instance.settings
        self.files = FileStore(upload_files(settings), repository_store(settings), settings.base_url)
        self.target = ProjectTarget(self.import_id, project.id, mapping, self.files, source_url=SOURCE_URL)

    def store(self, kind: Kind, *records: ProjectRecord) -> StoredBatch:
        """Store a batch as a run does."""
        self.target.prepare(self.database, cast("ProjectSource", self.source), kind, records)

        def write(db: Connection) -> StoredBatch:
            db.lock(NAMESPACES)
            return self.target.store(db, kind, records)

        return self.database.write(write)

    def get(self, path: str, **params: Any) -> Any:
        """Return the response of the API for an administrator, below the project."""
        answer = self._make.api.get(f"{self.project.url}{path}", self._make.root, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()


def contents(instance: Instance) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of the tables that an import could change."""

    def read(db: Connection) -> dict[str, list[tuple[Any, ...]]]:
        return {
            table.name: sorted(db.rows(select(table)), key=repr)
            for table in all_tables()
            if table.name not in ("sessions", "access_tokens", "row_versions")
        }

    return instance.app.database.read(read)


def emitted(instance: Instance) -> dict[str, int]:
    """Return the number of rows of the tables that notify users and other systems."""
    names = {table.name: table for table in all_tables() if table.name in ("events", "todos", "hook_events", "jobs")}
    return instance.app.database.read(
        lambda db: {name: db.value(select(func.count()).select_from(table)) for name, table in names.items()}
    )
