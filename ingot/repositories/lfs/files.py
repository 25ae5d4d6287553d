"""Where large files lie: ``<root>/ab/cd/<rest of the digest>``, whole or not at all."""

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
    """What came is not what its name or size promised."""


def is_oid(text: str) -> bool:
    """Whether a text can name a large file: the SHA-256 of its content, and nothing that a path could be made of."""
    return _OID.fullmatch(text) is not None


def lfs_files_of(settings: Settings) -> "LfsFiles":
    """Where the large files of an instance are."""
    return LfsFiles(settings.data / "lfs")


class LfsFiles:
    """The large files of all projects, each once; any number of processes may share them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_of(self, oid: str) -> Path:
        """Where a file lies, or would lie."""
        if not is_oid(oid):
            raise ValueError("No large file is called so")
        return self.root / oid[:2] / oid[2:4] / oid[4:]

    def size_of(self, oid: str) -> int | None:
        """How large a file is that is there."""
        try:
            return self.path_of(oid).stat().st_size
        except FileNotFoundError:
            return None

    def pieces(self, oid: str, start: int, stop: int) -> Iterator[bytes]:
        """A part of a file."""
        with self.path_of(oid).open("rb") as file:
            file.seek(start)
            while start < stop and (piece := file.read(min(_CHUNK_BYTES, stop - start))):
                start += len(piece)
                yield piece

    def receive(self, oid: str, size: int) -> "IncomingFile":
        """Begin to take a file in."""
        folder = self.root / _INCOMING_FOLDER
        for each in (self.root, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        return IncomingFile(self, folder / secrets.token_hex(16), oid, size)

    def remove(self, oid: str, older_than_seconds: float) -> None:
        """Remove a file, unless it has just come: whoever brought it is about to say whose it is."""
        path = self.path_of(oid)
        try:
            if path.stat().st_mtime <= time.time() - older_than_seconds:
                path.unlink()
        except FileNotFoundError:
            pass

    def folders(self) -> Iterator[list[str]]:
        """The digests of all files, a folder at a time."""
        for first in _below(self.root, _FIRST):
            for second in _below(first, _FIRST):
                yield [first.name + second.name + file.name for file in _below(second, _REST)]

    def delete_partial_files(self, older_than_seconds: float) -> None:
        """Remove what came only in part, and to which nothing was added for long."""
        newest = time.time() - older_than_seconds
        for path in _below(self.root / _INCOMING_FOLDER, re.compile(r"[0-9a-f]{32}")):
            try:
                if path.stat().st_mtime <= newest:
                    path.unlink()
            except FileNotFoundError:  # It has just got its place.
                pass


class IncomingFile:
    """A file that is coming in; it gets its place only when all of it is there and is what it was said to be."""

    def __init__(self, files: LfsFiles, path: Path, oid: str, size: int) -> None:
        self._files = files
        self._path = path
        self._oid = oid
        self._left = size
        self._digest = hashlib.sha256()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "wb", 0)

    def write(self, piece: bytes) -> None:
        """Take the next piece."""
        self._left -= len(piece)
        if self._left < 0:
            raise ContentMismatch("More was sent than the size that was named.")
        self._digest.update(piece)
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest) :]

    def finish(self) -> None:
        """Give the file its place, and return when the disk has it; the same content may be there already."""
        if self._left > 0:
            raise ContentMismatch("Less was sent than the size that was named.")
        if self._digest.hexdigest() != self._oid:
            raise ContentMismatch("The content does not have the digest that names it.")
        os.fsync(self._file.fileno())
        self._file.close()
        place = self._files.path_of(self._oid)
        for folder in (place.parent.parent, place.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        self._path.rename(place)
        for folder in (place.parent, place.parent.parent, self._files.root):
            sync_folder(folder)

    def discard(self) -> None:
        """Leave nothing of what has not got its place."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _below(folder: Path, named: re.Pattern[str]) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if named.fullmatch(entry.name)]
    except FileNotFoundError:
        return []
