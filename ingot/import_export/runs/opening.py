"""Opening of the source of a run: another server, or an archive in the folder of imports."""

import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from ingot.accounts.instance.all_settings import AllSettings, cached_all_settings
from ingot.core.db.database import Database
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.settings import Settings
from ingot.import_export.runs.documents import RunOptions, SourceCredentials
from ingot.import_export.source import GroupSource, ProjectSource, SourceError
from ingot.import_export.sources.archive.opening import open_archive, open_group_archive
from ingot.import_export.sources.client import SourceClient
from ingot.import_export.sources.opening import SOURCE_KINDS, open_group, open_source
from ingot.import_export.sources.request_sender import MAX_FILE_BYTES
from ingot.import_export.tables import ImportRun, SourceType

_PIECE_BYTES = 1024 * 1024


class ArchiveFile(NamedTuple):
    """Archive in the folder of imports, or one that will be downloaded there."""

    name: str
    title: str
    """Name of the file that the user chose."""
    url: str | None = None


class SourceOpener:
    """Opens the projects and groups of sources, through the guard of outgoing requests."""

    def __init__(self, settings: Settings, guard: SsrfGuard, database: Database) -> None:
        self._folder = imports_folder(settings)
        self.guard = guard
        self._database = database

    def server_project(self, kind: SourceType, url: str, token: str, key: str) -> ProjectSource:
        """Return a project of a server; nothing is requested yet."""
        if kind not in SOURCE_KINDS:
            raise SourceError(f"{kind} is not a server")
        return open_source(kind, url, token, key, guard=self.guard, max_file_bytes=self._max_file_bytes())

    def project(self, run: ImportRun, options: RunOptions, credentials: SourceCredentials, key: str) -> ProjectSource:
        """Return a project of the source of a run."""
        if run.source_type != "archive":
            return self.server_project(run.source_type, run.source_url, credentials.token, key)
        return self._archive(options, credentials)

    def group_of_run(self, run: ImportRun, options: RunOptions, token: str, key: str) -> GroupSource:
        """Return a group of the source of a run."""
        if run.source_type != "archive":
            return self.group(run.source_type, run.source_url, token, key)
        return self.group_archive(options.archive or "missing")

    def group_archive(self, name: str) -> GroupSource:
        """Return the groups of an archive in the folder of imports."""
        path = self._folder / name
        if not path.exists():
            raise SourceError("The archive was deleted")
        return open_group_archive(path, self._limits().max_decompressed_archive_size * 2**20)

    def group(self, kind: SourceType, url: str, token: str, key: str) -> GroupSource:
        """Return a group of a server; nothing is requested yet."""
        if kind not in SOURCE_KINDS:
            raise SourceError(f"{kind} is not a server")
        return open_group(kind, url, token, key, guard=self.guard, max_file_bytes=self._max_file_bytes())

    def _archive(self, options: RunOptions, credentials: SourceCredentials) -> ProjectSource:
        name = options.archive or "missing"
        if credentials.archive_url is not None and not (self._folder / name).exists():
            max_bytes = self._limits().max_import_remote_file_size * 2**20
            download_archive(credentials.archive_url, self._folder / name, self.guard, max_bytes)
        return self.project_archive(name, options.file_name)

    def _max_file_bytes(self) -> int:
        return self._limits().bulk_import_max_download_file_size * 2**20 or MAX_FILE_BYTES

    def _limits(self) -> AllSettings:
        return self._database.read(cached_all_settings)

    def project_archive(self, name: str, file_name: str | None = None) -> ProjectSource:
        """Return the project of an archive in the folder of imports."""
        path = self._folder / name
        if not path.exists():
            raise SourceError("The archive was deleted")
        return open_archive(path, self._limits().max_decompressed_archive_size * 2**20, file_name)

    def delete_archive(self, name: str | None) -> None:
        """Delete an archive that is no longer needed, with everything that was unpacked from it."""
        if name is not None:
            path = self._folder / name
            shutil.rmtree(f"{path}.unpacked", ignore_errors=True)
            with suppress(FileNotFoundError):
                path.unlink()


def imports_folder(settings: Settings) -> Path:
    """Return the folder of uploaded archives; they are deleted when their import has ended."""
    return settings.data / "imports"


def store_archive(settings: Settings, file: IO[bytes], title: str) -> ArchiveFile:
    """Store an uploaded archive in the folder of imports."""
    folder = imports_folder(settings)
    folder.mkdir(mode=0o700, exist_ok=True)
    name = secrets.token_hex(16)
    file.seek(0)
    with (folder / name).open("xb") as stored:
        shutil.copyfileobj(file, stored, _PIECE_BYTES)
    return ArchiveFile(name, title)


def download_archive(url: str, path: Path, guard: SsrfGuard, max_bytes: int) -> None:
    """Download an archive of a limited size, unless that is 0; it appears under its path only when it is complete."""
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    client = SourceClient(guard, origin, {}, secrets=[parts.query], max_file_bytes=max_bytes or MAX_FILE_BYTES)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    partial_path = path.with_suffix(".partial")
    try:
        with client.download(url) as file, partial_path.open("wb") as stored:
            shutil.copyfileobj(file, stored, _PIECE_BYTES)
        partial_path.rename(path)
    finally:
        client.close()


def source_host(run: ImportRun, destination: int | str | None = None) -> str:
    """Return the name under which the users of a source are known; users of an archive only in its destination."""
    return f"archive {destination}" if run.source_type == "archive" else host_of(run.source_url)


def host_of(url: str) -> str:
    """Return the host and port of a server in lower case."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()
