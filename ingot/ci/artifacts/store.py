"""Storage of job artifacts as ``<root>/ab/cd/<rest of the key>``; files appear atomically, only when complete."""

import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ingot.git.core.layout import sync_folder
from ingot.settings import Settings

_KEY = re.compile(r"[0-9a-f]{32}")
_FOLDER, _REST = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{28}")
_INCOMING_FOLDER = "incoming"
_CHUNK_BYTES = 256 * 1024


class ArtifactTooLarge(Exception):
    """An upload that exceeds the size limit."""


def artifact_store_of(settings: Settings) -> "ArtifactStore":
    """Return the storage of an instance's job artifacts."""
    return ArtifactStore(settings.data / "artifacts")


class ArtifactStore:
    """Files of job artifacts, each with a random key; any number of processes may share the storage."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_of(self, key: str) -> Path:
        """Return the path of a file, which need not exist; raise ValueError for an invalid key."""
        if not _KEY.fullmatch(key):
            raise ValueError("Not a valid artifact key")
        return self.root / key[:2] / key[2:4] / key[4:]

    def size_of(self, key: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        try:
            return self.path_of(key).stat().st_size
        except FileNotFoundError:
            return None

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading; raise FileNotFoundError if it does not exist."""
        return self.path_of(key).open("rb")

    def pieces(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a file."""
        with self.open(key) as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(_CHUNK_BYTES, stop - start))):
                start += len(piece)
                yield piece

    def receive(self, max_bytes: int) -> "IncomingArtifact":
        """Start an upload."""
        folder = self.root / _INCOMING_FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return IncomingArtifact(self, folder, max_bytes)

    def delete(self, key: str) -> None:
        """Delete a file, if it exists."""
        self.path_of(key).unlink(missing_ok=True)

    def folders(self, older_than_seconds: float) -> Iterator[list[str]]:
        """Yield the keys of all files that are older, one folder at a time."""
        cutoff = time.time() - older_than_seconds
        for first in _below(self.root, _FOLDER):
            for second in _below(first, _FOLDER):
                yield [first.name + second.name + file.name for file in _below(second, _REST) if _is_old(file, cutoff)]

    def delete_partial_files(self, older_than_seconds: float) -> None:
        """Delete incomplete uploads that have not been written to for this long."""
        cutoff = time.time() - older_than_seconds
        for path in _below(self.root / _INCOMING_FOLDER, _KEY):
            if _is_old(path, cutoff):
                path.unlink(missing_ok=True)


class IncomingArtifact:
    """An upload in progress; ``close`` deletes it unless it was published."""

    def __init__(self, store: ArtifactStore, folder: Path, max_bytes: int) -> None:
        self._store = store
        self.key = secrets.token_hex(16)
        self.size = 0
        self._path = folder / self.key
        self._max_bytes = max_bytes
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "w+b", 0)

    def tell(self) -> int:
        """Return the number of bytes that were written."""
        return self.size

    def write(self, piece: bytes) -> int:
        """Append bytes; raise ArtifactTooLarge beyond the limit."""
        self.size += len(piece)
        if self.size > self._max_bytes:
            raise ArtifactTooLarge
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest) :]
        return len(piece)

    def seek(self, position: int) -> int:
        """Set the position, to read what was written."""
        return self._file.seek(position)

    @property
    def content(self) -> BinaryIO:
        """The file, for reading."""
        return self._file

    def publish(self) -> None:
        """Sync the file to disk and give it the name of its key."""
        os.fsync(self._file.fileno())
        target = self._store.path_of(self.key)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.rename(target)
        for folder in (target.parent, target.parent.parent, self._store.root):
            sync_folder(folder)

    def close(self) -> None:
        """Close the file, and delete it if it was not published."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _below(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if pattern.fullmatch(entry.name)]
    except FileNotFoundError:
        return []


def _is_old(path: Path, cutoff: float) -> bool:
    try:
        return path.stat().st_mtime <= cutoff
    except FileNotFoundError:  # It has just been published or deleted.
        return False
