"""Interface of the places that hold files: a directory on the disk, or a bucket of an object store."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

CHUNK_BYTES = 256 * 1024
INCOMING_FOLDER = "incoming"
"""Folder of uploads that are not complete yet; its objects are never listed."""


class StoredObject(NamedTuple):
    """Name, size and age of a stored file."""

    key: str
    size: int
    modified_at: float
    """Seconds since 1970."""


class StorageDriver(Protocol):
    """Files of one kind by key, such as ``ab/cd/ef``; a file appears only when it is complete."""

    @property
    def name(self) -> str:
        """Name of the place, as commands and messages call it."""

    def size_of(self, key: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading, with seeking; raise FileNotFoundError if it does not exist."""

    def pieces(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a file; the first step raises FileNotFoundError if the file does not exist."""

    def publish(self, key: str, path: Path) -> None:
        """Store a complete local file durably under a key, replacing an older one; the local name disappears."""

    def delete(self, key: str) -> None:
        """Delete a file, if it exists."""

    def objects(self, folder: str = "") -> Iterator[StoredObject]:
        """Yield all complete files, or those below a folder; the files of a folder follow each other."""
