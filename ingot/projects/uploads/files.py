"""Storage of uploaded files as ``<project id>/<secret>/<name>``; files appear only when they are complete."""

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.files import FileStorage

_SECRET = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"([0-9]+)/([0-9a-f]{32})/.+", re.DOTALL)
_PARTIAL = ".partial"
_CHUNK_SIZE = 2**20


def upload_files(settings: Settings) -> "UploadFiles":
    """Return the upload storage of an instance."""
    return UploadFiles(file_storage(settings, "uploads"))


class UploadFiles:
    """Uploaded files of all projects; safe for use by several processes."""

    def __init__(self, storage: FileStorage) -> None:
        self.storage = storage

    @property
    def root(self) -> Path:
        """The directory of the files on the disk."""
        return self.storage.root

    def path_of(self, project_id: int, secret: str, name: str) -> Path:
        """Return the path of a file on the disk; raise ValueError if secret or name is malformed."""
        return self.root / _key_of(project_id, secret, name)

    def store(self, project_id: int, secret: str, name: str, content: BinaryIO) -> int:
        """Store a file durably and return its size; the sweep removes it unless a row follows."""
        key = _key_of(project_id, secret, name)
        path = self.root / key
        for folder in (self.root, path.parent.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        partial = path.parent.with_suffix(_PARTIAL)
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(content, file, _CHUNK_SIZE)
                size = file.tell()
            self.storage.publish(key, partial)
        except BaseException:
            partial.unlink(missing_ok=True)
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        return size

    def open(self, project_id: int, secret: str, name: str) -> BinaryIO:
        """Open a file for reading; raise ``FileNotFoundError`` if it does not exist."""
        return self.storage.open(_key_of(project_id, secret, name))

    def size_of(self, project_id: int, secret: str, name: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        return self.storage.size_of(_key_of(project_id, secret, name))

    def pieces(self, project_id: int, secret: str, name: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a file."""
        return self.storage.pieces(_key_of(project_id, secret, name), start, stop)

    def remove_all(self, project_id: int) -> None:
        """Remove all files of a project, if there are any."""
        try:
            shutil.rmtree(self.root / str(project_id))
        except FileNotFoundError:
            pass
        if self.storage.bucket is not None:
            for stored in list(self.storage.bucket.objects(str(project_id))):
                self.storage.bucket.delete(stored.key)

    def sweep(self, known_secrets: Callable[[int], Collection[str]], older_than_seconds: float) -> list[Path]:
        """Remove files without a row, left by a crash or a failed request, and return the paths of those on the disk.

        ``known_secrets`` returns the secrets of a project's uploads. It is called after the folder was read, and recent
        files are skipped, because their rows may not be committed yet.
        """
        cutoff = time.time() - older_than_seconds
        swept: list[Path] = []
        for folder in self._projects():
            old = [entry for entry in folder.iterdir() if _modified_at(entry) <= cutoff]
            secrets = known_secrets(int(folder.name)) if old else ()
            for entry in old:
                if entry.name not in secrets:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
                    swept.append(entry)
        self._sweep_bucket(known_secrets, cutoff)
        return swept

    def _sweep_bucket(self, known_secrets: Callable[[int], Collection[str]], cutoff: float) -> None:
        if self.storage.bucket is None:
            return
        matches = (_KEY.fullmatch(each.key) for each in self.storage.bucket.objects() if each.modified_at <= cutoff)
        for project_id, uploads in groupby((match for match in matches if match), lambda match: int(match[1])):
            old = list(uploads)
            secrets = known_secrets(project_id)
            for match in old:
                if match[2] not in secrets:
                    self.storage.bucket.delete(match[0])

    def _projects(self) -> list[Path]:
        if not self.root.is_dir():
            return []
        return [entry for entry in self.root.iterdir() if entry.name.isdigit() and entry.is_dir()]


def _key_of(project_id: int, secret: str, name: str) -> str:
    if not _SECRET.fullmatch(secret) or "/" in name or name in ("", ".", ".."):
        raise ValueError("Malformed secret or name of an upload")
    return f"{project_id}/{secret}/{name}"


def _modified_at(path: Path) -> float:
    try:
        return path.lstat().st_ctime
    except FileNotFoundError:  # A concurrent upload has just renamed it.
        return time.time()
