"""Storage of job artifacts as ``ab/cd/<rest of the key>``; files appear only when they are complete."""

import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.files import FileStorage

_KEY = re.compile(r"[0-9a-f]{32}")
_STORED_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}")


class ArtifactTooLarge(Exception):
    """An upload that exceeds the size limit."""


def artifact_store_of(settings: Settings) -> "ArtifactStore":
    """Return the storage of an instance's job artifacts."""
    return ArtifactStore(file_storage(settings, "artifacts"))


class ArtifactStore:
    """Files of job artifacts, each with a random key; any number of processes may share the storage."""

    def __init__(self, storage: FileStorage) -> None:
        self.storage = storage

    def path_of(self, key: str) -> Path:
        """Return the path of a file on the disk, which need not exist; raise ValueError for an invalid key."""
        return self.storage.disk.path_of(stored_key_of(key))

    def size_of(self, key: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        return self.storage.size_of(stored_key_of(key))

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading; raise FileNotFoundError if it does not exist."""
        return self.storage.open(stored_key_of(key))

    def pieces(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a file."""
        return self.storage.pieces(stored_key_of(key), start, stop)

    def download_url(self, key: str) -> str | None:
        """Return a URL with which a client downloads a file from the bucket itself; None if it cannot."""
        return self.storage.download_url(stored_key_of(key))

    def receive(self, max_bytes: int) -> "IncomingArtifact":
        """Start an upload."""
        return IncomingArtifact(self.storage, max_bytes)

    def delete(self, key: str) -> None:
        """Delete a file, if it exists."""
        self.storage.delete(stored_key_of(key))

    def batches(self, older_than_seconds: float) -> Iterator[list[str]]:
        """Yield the keys of all files that are older, some at a time."""
        for batch in self.storage.key_batches(_STORED_KEY, older_than_seconds):
            yield [key.replace("/", "") for key in batch]

    def delete_partial_files(self, older_than_seconds: float) -> None:
        """Delete incomplete uploads that have not been written to for this long."""
        self.storage.delete_partial_files(older_than_seconds)


def stored_key_of(key: str) -> str:
    """Return the key of a file in the storage; raise ValueError for an invalid key."""
    if not _KEY.fullmatch(key):
        raise ValueError("Not a valid artifact key")
    return f"{key[:2]}/{key[2:4]}/{key[4:]}"


class IncomingArtifact:
    """An upload in progress; ``close`` deletes it unless it was published."""

    def __init__(self, storage: FileStorage, max_bytes: int) -> None:
        self._storage = storage
        self.key = secrets.token_hex(16)
        self.size = 0
        self._path = storage.incoming_path()
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
        """Store the file durably under its key."""
        self._storage.publish(stored_key_of(self.key), self._path)

    def close(self) -> None:
        """Close the file, and delete it if it was not published."""
        self._file.close()
        self._path.unlink(missing_ok=True)
