"""Files of a source, copied to uploads before the rows that refer to them are written."""

import io
import secrets
from collections.abc import Iterable, Mapping
from typing import IO, BinaryIO, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from ingot.core.db.connection import Connection
from ingot.git.maintenance.store import RepositoryStore
from ingot.import_export.links import linked, store_links
from ingot.import_export.source import NamedFile, ProjectSource
from ingot.import_export.target.rows import insert_rows, rows_by_ids
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.names import sanitize_file_name
from ingot.projects.uploads.service import UploadedFile
from ingot.projects.uploads.tables import uploads

UPLOADS = "uploads"
"""Kind of the links from addresses of the source to uploads."""


class FileStore(NamedTuple):
    """Places where the files and repositories of an instance are stored, and its public URL."""

    uploads: UploadFiles
    repositories: RepositoryStore
    base_url: str


class FileTooLarge(Exception):
    """A file of the source exceeds the limit."""


class _LimitedFile(io.RawIOBase):
    """File that raises ``FileTooLarge`` beyond a number of bytes."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file = file
        self._left = limit

    def read(self, size: int = -1, /) -> bytes:
        content = self._file.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise FileTooLarge
        return content


class CopiedFiles(NamedTuple):
    """Files that were copied, by their addresses at the source, and the reasons why others were not."""

    files: Mapping[str, UploadedFile]
    problems: list[str]


def copy_files(
    source: ProjectSource, store: UploadFiles, project_id: int, links: Iterable[tuple[str, str]], limit: int
) -> CopiedFiles:
    """Copy files, given by address and name; those without a row later are removed by the sweep of uploads."""
    copied: dict[str, UploadedFile] = {}
    problems: list[str] = []
    for link, name in links:
        opened = source.open_file(link)
        if opened is None:
            problems.append(f"The file {link} is not available at the source; its link was left as it is.")
            continue
        secret = secrets.token_hex(16)
        try:
            with opened as file:
                told = file.file_name if isinstance(file, NamedFile) and "." not in name else None
                stored_name = sanitize_file_name(told or name)
                content = cast("BinaryIO", _LimitedFile(file, limit))
                size = store.store(project_id, secret, stored_name, content)
        except FileTooLarge:
            problems.append(f"The file {link} is larger than {limit} bytes and was not imported.")
            continue
        copied[link] = UploadedFile(secret, stored_name, size)
    return CopiedFiles(copied, problems)


def name_in(link: str) -> str:
    """Return the file name in the address of an attachment."""
    return unquote(urlsplit(link).path.rpartition("/")[2]) or "file"


def known_uploads(db: Connection, import_id: int, links: Iterable[str]) -> dict[str, str]:
    """Return the paths of the uploads that earlier batches have created, by address at the source."""
    by_link = linked(db, import_id, UPLOADS, list(links))
    rows = rows_by_ids(db, uploads, {link.local_id for link in by_link.values()}, "secret", "name")
    return {link: upload_path(*rows[stored.local_id]) for link, stored in by_link.items() if stored.local_id in rows}


def add_uploads(
    db: Connection, import_id: int, project_id: int, user_id: int, files: Mapping[str, UploadedFile]
) -> dict[str, str]:
    """Add the rows of copied files; return the paths of the uploads by address at the source."""
    rows = [
        {
            "project_id": project_id,
            "user_id": user_id,
            "secret": file.secret,
            "name": file.name,
            "size": file.size,
            "created_at": db.now,
        }
        for file in files.values()
    ]
    ids = insert_rows(db, uploads, rows)
    store_links(db, import_id, UPLOADS, [(link, row_id, "") for link, row_id in zip(files, ids, strict=True)])
    return {link: upload_path(file.secret, file.name) for link, file in files.items()}


def upload_path(secret: str, name: str) -> str:
    """Return the path of an upload as texts of its project write it."""
    return f"/uploads/{secret}/{name}"
