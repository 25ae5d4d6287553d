"""Archives as a plain tar file with an index of its entries; refuses everything that could harm the server.

The archive comes from a user. It is decompressed once, within limits of size, and its entries are read in place: no
name of an entry becomes the name of a file.
"""

import gzip
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from ingot.import_export.source import SourceError
from ingot.import_export.sources.archive.single_document import DOCUMENT, MAX_DOCUMENT_BYTES, split_document

MAX_LINE_BYTES = 32 * 2**20
"""Longest line of a relation: one issue with all of its notes."""
MAX_ENTRIES = 200_000
"""Largest number of files and folders."""
MAX_HEADER_BYTES = 128 * 1024
"""Longest header of an entry, with extended headers and the map of a sparse file."""
MAX_DECOMPRESSED_BYTES = 25 * 2**30
MAX_RATIO = 100
"""Highest compression, which real projects do not reach: the text of a tree is compressed to about a tenth."""
_FREE_BYTES = 64 * 2**20
"""Decompressed size that is accepted at any compression, because small archives may be repetitive."""
_RESERVED_BYTES = 256 * 2**20
"""Disk space that must be left free."""
_CHUNK_BYTES = 2**20
_MAX_NAME_LENGTH = 1024
_NO_ARCHIVE = "The file is not an export archive: it is not compressed with gzip, or damaged"


class TarEntry(NamedTuple):
    """Position of a file in the decompressed archive."""

    offset: int
    size: int
    is_split: bool = False
    """Whether it is a part of the document of an old archive, in the file of these."""


class UnpackedArchive:
    """Decompressed archive in a folder next to it, which is reused if a process was killed meanwhile."""

    def __init__(self, path: Path, max_bytes: int | None = None) -> None:
        self._max_bytes = max_bytes or MAX_DECOMPRESSED_BYTES
        self._folder = path.with_name(f"{path.name}.unpacked")
        self._tar = self._folder / "archive.tar"
        if not self._tar.exists():
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(mode=0o700)
            self._decompress(path)
        self._file = self._tar.open("rb")
        self._split: IO[bytes] | None = None
        try:
            self._entries = dict(_entries(self._file))
            self._split_document()
        except BaseException:
            self.close()
            raise

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the files that begin with a prefix."""
        return [name for name in self._entries if name.startswith(prefix)]

    def size_of(self, name: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        entry = self._entries.get(name)
        return None if entry is None else entry.size

    def read(self, name: str, max_bytes: int) -> bytes | None:
        """Return a short file, or None if it does not exist; raise SourceError if it is longer than the limit."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        if entry.size > max_bytes:
            raise SourceError(f"{name} in the archive is too large")
        file = self._file_of(entry)
        file.seek(entry.offset)
        return file.read(entry.size)

    def lines(self, name: str, position: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a file after a position, each with the position after it."""
        entry = self._entries.get(name, TarEntry(0, 0))
        file = self._file_of(entry)
        while position < entry.size:
            file.seek(entry.offset + position)
            line = file.readline(min(MAX_LINE_BYTES, entry.size - position))
            if len(line) >= MAX_LINE_BYTES:
                raise SourceError(f"A line of {name} in the archive is too long")
            position += len(line)
            if line.strip():
                yield position, line

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Open a copy of a file; raise SourceError if it does not exist."""
        with self.extract(name).open("rb") as file:
            yield file

    def extract(self, name: str) -> Path:
        """Copy a file out of the archive, under a name of our own, and return its path."""
        entry = self._entries.get(name)
        if entry is None:
            raise SourceError(f"{name} is missing in the archive")
        path = self._folder / f"{entry.offset}"
        if not path.exists():
            partial = path.with_suffix(".partial")
            with partial.open("wb") as copy:
                self._copy(entry, copy)
            partial.rename(path)
        return path

    def close(self) -> None:
        """Delete the decompressed archive."""
        self._file.close()
        if self._split is not None:
            self._split.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _file_of(self, entry: TarEntry) -> IO[bytes]:
        return self._split if entry.is_split and self._split is not None else self._file

    def _split_document(self) -> None:
        """Add the files of later versions if one document holds the whole project."""
        if DOCUMENT not in self._entries or "tree/project.json" in self._entries:
            return
        content = self.read(DOCUMENT, MAX_DOCUMENT_BYTES) or b""
        self._require_free_space()
        self._split = (self._folder / "document.ndjson").open("w+b")
        for name, offset, size in split_document(content, self._split):
            self._entries[name] = TarEntry(offset, size, is_split=True)
        self._split.flush()

    def _copy(self, entry: TarEntry, copy: IO[bytes]) -> None:
        position, left = entry.offset, entry.size
        while left:
            self._file.seek(position)
            piece = self._file.read(min(_CHUNK_BYTES, left))
            self._require_free_space()
            copy.write(piece)
            position, left = position + len(piece), left - len(piece)

    def _decompress(self, path: Path) -> None:
        limit = min(_FREE_BYTES + MAX_RATIO * path.stat().st_size, self._max_bytes)
        partial = self._tar.with_suffix(".partial")
        written = 0
        try:
            with gzip.open(path, "rb") as source, partial.open("wb") as target:
                while piece := source.read(_CHUNK_BYTES):
                    written += len(piece)
                    if written > limit:
                        raise SourceError("The archive is too large when it is decompressed")
                    self._require_free_space()
                    target.write(piece)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise SourceError(_NO_ARCHIVE) from error
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        partial.rename(self._tar)

    def _require_free_space(self) -> None:
        if shutil.disk_usage(self._folder).free < _RESERVED_BYTES:
            raise SourceError("The server has no free disk space")


def _entries(file: IO[bytes]) -> Iterator[tuple[str, TarEntry]]:
    names: set[str] = set()
    count, reader = 0, _BoundedReader(file)
    try:
        with tarfile.TarFile(fileobj=reader, mode="r", errorlevel=2) as archive:  # type: ignore[arg-type] # A reader that seeks is enough.
            while (member := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined] # Otherwise the list of all grows in memory.
                reader.start_header()
                name, count = _checked_name(member), count + 1
                if name in names or count > MAX_ENTRIES:
                    raise SourceError("The archive contains a file twice, or too many files")
                if name is not None:
                    names.add(name)
                    yield name, TarEntry(member.offset_data, member.size)
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise SourceError("The archive is damaged") from error


def _checked_name(member: tarfile.TarInfo) -> str | None:
    """Return the name of a file, or None for a folder; raise SourceError for all other kinds of entries."""
    name = member.name.removeprefix("./")
    unsafe = member.name.startswith("/") or ".." in name.split("/") or "\\" in name or not name.isprintable()
    if unsafe or len(name) > _MAX_NAME_LENGTH:
        raise SourceError("The archive contains a file with a name that is not allowed")
    if member.isdir():
        return None
    if not member.isreg() or member.issparse():
        raise SourceError("The archive contains a link or a special file")
    return name


class _BoundedReader:
    """Reader that refuses headers that are too long.

    The name of an entry, its extended headers and the map of a sparse file may be endless. tarfile reads all of them
    into memory, and takes minutes for a map that an archive of 40 kB contains.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = MAX_HEADER_BYTES
        self.name = "archive"

    def start_header(self) -> None:
        """Begin to count the bytes of the next entry's header."""
        self._left = MAX_HEADER_BYTES

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self._left:
            raise tarfile.ReadError("header too large")
        self._left -= size
        return self._file.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        return self._file.seek(position, whence)

    def tell(self) -> int:
        return self._file.tell()
