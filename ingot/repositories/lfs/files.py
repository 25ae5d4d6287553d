"""Storage of LFS objects as ``<root>/ab/cd/<rest of the digest>``; files appear atomically, only when complete."""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from ingot.git.core.layout import sync_folder
from ingot.settings import Settings

_OID = re.compile(r"[0-9a-f]{64}")
_FIRST, _REST = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{60}")
_INCOMING_FOLDER = "incoming"
_CHUNK_BYTES = 256 * 1024


class ContentMismatch(Exception):
    """Uploaded content that does not match its digest or size."""


def is_oid(text: str) -> bool:
    """Return whether a text is a valid object id: a SHA-256 digest, which is safe in a path."""
    return _OID.fullmatch(text) is not None


def lfs_files_of(settings: Settings) -> "LfsFiles":
    """Return the storage of an instance's LFS objects."""
    return LfsFiles(settings.data / "lfs")


class LfsFiles:
    """LFS objects of all projects, each stored once; any number of processes may share the storage."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_of(self, oid: str) -> Path:
        """Return the path of an object, which need not exist; raise ValueError for an invalid id."""
        if not is_oid(oid):
            raise ValueError("Not a valid LFS object id")
        return self.root / oid[:2] / oid[2:4] / oid[4:]

    def size_of(self, oid: str) -> int | None:
        """Return the size of an object, or None if it does not exist."""
        try:
            return self.path_of(oid).stat().st_size
        except FileNotFoundError:
            return None

    def pieces(self, oid: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of an object."""
        with self.path_of(oid).open("rb") as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(_CHUNK_BYTES, stop - start))):
                start += len(piece)
                yield piece

    def receive(self, oid: str, size: int) -> "IncomingFile":
        """Start the upload of an object."""
        folder = self.root / _INCOMING_FOLDER
        for each in (self.root, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        return IncomingFile(self, folder / secrets.token_hex(16), oid, size)

    def remove(self, oid: str, older_than_seconds: float) -> None:
        """Delete an object unless it was just uploaded: the upload may be about to link it to its project."""
        path = self.path_of(oid)
        try:
            if path.stat().st_mtime <= time.time() - older_than_seconds:
                path.unlink()
        except FileNotFoundError:
            pass

    def folders(self) -> Iterator[list[str]]:
        """Yield the digests of all objects, one folder at a time."""
        for first in _below(self.root, _FIRST):
            for second in _below(first, _FIRST):
                yield [first.name + second.name + file.name for file in _below(second, _REST)]

    def delete_partial_files(self, older_than_seconds: float) -> None:
        """Delete incomplete uploads that have not been written to for this long."""
        cutoff = time.time() - older_than_seconds
        for path in _below(self.root / _INCOMING_FOLDER, re.compile(r"[0-9a-f]{32}")):
            try:
                if path.stat().st_mtime <= cutoff:
                    path.unlink()
            except FileNotFoundError:  # The upload has just been completed.
                pass


class IncomingFile:
    """An upload in progress; the object appears only when it is complete and matches its digest."""

    def __init__(self, files: LfsFiles, path: Path, oid: str, size: int) -> None:
        self._files = files
        self._path = path
        self._oid = oid
        self._left = size
        self._digest = hashlib.sha256()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "wb", 0)

    def write(self, piece: bytes) -> None:
        """Append a chunk; raise ContentMismatch if the upload exceeds the announced size."""
        self._left -= len(piece)
        if self._left < 0:
            raise ContentMismatch("The content is larger than the announced size.")
        self._digest.update(piece)
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest) :]

    def finish(self) -> None:
        """Verify and publish the object and sync it to disk; overwrites an existing copy of the same content."""
        if self._left > 0:
            raise ContentMismatch("The content is smaller than the announced size.")
        if self._digest.hexdigest() != self._oid:
            raise ContentMismatch("The content does not match its digest.")
        os.fsync(self._file.fileno())
        self._file.close()
        target = self._files.path_of(self._oid)
        for folder in (target.parent.parent, target.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._path.rename(target)
        for folder in (target.parent, target.parent.parent, self._files.root):
            sync_folder(folder)

    def discard(self) -> None:
        """Delete the temporary file of an upload that was not completed."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _below(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if pattern.fullmatch(entry.name)]
    except FileNotFoundError:
        return []
