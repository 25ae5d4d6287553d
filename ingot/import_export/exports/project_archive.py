"""Contents of a project export: the tree, repositories, uploads, LFS objects and the avatar."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
from sqlalchemy import bindparam, select

from ingot.accounts.avatars.tables import avatars
from ingot.core.log import log_failure
from ingot.core.version import product_version
from ingot.git.maintenance.bundles import write_bundle
from ingot.git.maintenance.store import RepositoryStore
from ingot.import_export.exports.archive_writer import ExportWriter
from ingot.import_export.exports.project_tree import PROJECT_RELATIONS, collect_users, project_row, user_rows
from ingot.import_export.exports.rows import Row, RowReader
from ingot.projects.projects.tables import project_wikis, projects
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.tables import uploads
from ingot.repositories.lfs.files import LfsFiles
from ingot.repositories.lfs.tables import lfs_objects, lfs_project_objects

FORMAT_VERSION = "0.2.4"
"""Version of GitLab's format; its importer refuses others."""
_GITLAB_VERSION = "17.0.0"
_LFS_BATCH = (
    select(lfs_objects)
    .join(lfs_project_objects, lfs_project_objects.c.object_id == lfs_objects.c.id)
    .where(lfs_project_objects.c.project_id == bindparam("project"), lfs_objects.c.id > bindparam("after"))
    .order_by(lfs_objects.c.id)
    .limit(100)
)


class ProjectFiles(NamedTuple):
    """Stores from which the files of a project are read."""

    repositories: RepositoryStore
    uploads: UploadFiles
    lfs: LfsFiles


class ProjectArchive:
    """Writer of the parts of one project's export."""

    def __init__(self, reader: RowReader, files: ProjectFiles, project_id: int, *, with_emails: bool = False) -> None:
        self._reader = reader
        self._files = files
        self._project_id = project_id
        self._with_emails = with_emails
        self._users: set[int] = set()
        self._project = reader.by_ids(projects, [project_id])[project_id]

    def write(self, archive: ExportWriter, description: str | None = None) -> int:
        """Write the whole archive; return the number of rows in its tree."""
        write_versions(archive)
        archive.add_rows("tree/project.json", [self.attributes(description)])
        count = 0
        for name in PROJECT_RELATIONS:
            count += archive.add_rows(f"tree/project/{name}.ndjson", self.relation(name))
        archive.add_rows("tree/project/user_contributions.ndjson", self.contributors())
        self.write_repository(archive)
        self._write_wiki(archive)
        self.write_uploads(archive)
        self.write_lfs_objects(archive)
        self._write_avatar(archive)
        return count

    def attributes(self, description: str | None = None) -> Row:
        """Return the attributes of the project."""
        return project_row(self._reader, self._project_id, description)

    def relation(self, name: str) -> Iterator[Row]:
        """Yield the rows of a relation, and note the users that they refer to."""
        for row in PROJECT_RELATIONS[name](self._reader, self._project_id):
            collect_users(row, self._users)
            yield row

    def contributors(self) -> Iterable[Row]:
        """Yield the users that the relations so far refer to."""
        return user_rows(self._reader, self._users, with_emails=self._with_emails)

    def write_repository(self, archive: ExportWriter) -> None:
        """Add the bundle of the repository, unless it is empty."""
        write_repository_bundle(archive, self._files.repositories, "project.bundle", self._project["repository_key"])

    def _write_wiki(self, archive: ExportWriter) -> None:
        for wiki in self._reader.all_rows(project_wikis, "project_id", self._project_id):
            write_repository_bundle(archive, self._files.repositories, "project.wiki.bundle", wiki["repository_key"])

    def write_uploads(self, archive: ExportWriter) -> None:
        """Add the files that texts refer to."""
        for batch in self._reader.batches(uploads, "project_id", self._project_id):
            for row in batch:
                try:
                    with self._files.uploads.open(self._project_id, row["secret"], row["name"]) as file:
                        archive.add_file(f"uploads/{row['secret']}/{row['name']}", file)
                except FileNotFoundError as error:
                    # A file that was lost must not prevent the export of all others.
                    log_failure("upload not exported", error, upload_id=row["id"])

    def write_lfs_objects(self, archive: ExportWriter) -> None:
        """Add the files of Git LFS, and the list of them."""
        after, types = 0, {}
        while batch := self._reader.rows(lfs_objects, _LFS_BATCH, project=self._project_id, after=after):
            for row in batch:
                size = self._files.lfs.size_of(row["oid"])
                if size is None:
                    continue
                archive.add_pieces(f"lfs-objects/{row['oid']}", size, self._files.lfs.pieces(row["oid"], 0, size))
                types[row["oid"]] = [0]
            after = batch[-1]["id"]
        archive.add_text("lfs-objects.json", msgspec.json.encode(types).decode())

    def _write_avatar(self, archive: ExportWriter) -> None:
        write_avatar(archive, self._reader, self._project, "avatar")


def write_repository_bundle(archive: ExportWriter, store: RepositoryStore, name: str, key: str) -> None:
    """Add the bundle of a repository, unless it is empty."""
    with archive.scratch_path() as path:
        if write_bundle(store.open(key).path, path):
            with path.open("rb") as file:
                archive.add_file(name, file)


def write_avatar(archive: ExportWriter, reader: RowReader, owner: Row, folder: str) -> None:
    """Add the avatar of a project or group, if it has one."""
    if owner["avatar_id"] is None:
        return
    for avatar in reader.by_ids(avatars, [owner["avatar_id"]]).values():
        content: bytes = avatar["content"]
        archive.add_pieces(f"{folder}/{owner['avatar_file'] or 'avatar.png'}", len(content), iter([content]))


def write_versions(archive: ExportWriter) -> None:
    """Add the versions of the format and of the server."""
    archive.add_text("VERSION", FORMAT_VERSION)
    archive.add_text("GITLAB_VERSION", _GITLAB_VERSION)
    archive.add_text("GITLAB_REVISION", "ingot")
    archive.add_text("INGOT_VERSION", product_version())
