"""Reader of ZIP archives in place: lists a folder and extracts one file without unpacking the rest.

The archives come from jobs, so sizes, offsets and names in them are checked. The central directory is mapped into
memory and searched as it is; building an object for each entry would take a second for 100,000 entries.
"""

import mmap
import re
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

MAX_DIRECTORY_BYTES = 64 * 2**20
MAX_ENTRIES = 500_000
MAX_RATIO = 200
"""An archive that unpacks to more than this many times its size is rejected if the result is large."""
MIN_BOMB_BYTES = 2**30
MAX_PATH_LENGTH = 4096
MAX_FOLDER_CHARACTERS = 16 * 2**20
"""Paths of all folders in a list; each entry may name a thousand folders."""
_DEFLATE_RATIO = 1100
"""Upper bound of what deflate can achieve; a declared size beyond it is wrong."""
_CHUNK_BYTES = 64 * 1024
_MAX_OCCURRENCES = 1000
_MAX_COMMENT_BYTES = 2**16
_STORED, _DEFLATED = 0, 8
_MADE_ON_UNIX = 3
_ENCRYPTED_FLAG = 0x1
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_LOCATOR64 = struct.Struct("<4sLQL")
_LOCATOR64_MARK = b"PK\x06\x07"
_END64 = struct.Struct("<4sQ2H2L4Q")
_END64_MARK = b"PK\x06\x06"
_ENTRY = struct.Struct("<4s6H3L5H2L")
_ENTRY_MARK = b"PK\x01\x02"
_LOCAL = struct.Struct("<4s5H3L2H")
_LOCAL_MARK = b"PK\x03\x04"
_ZIP64_EXTRA = 1
_FULL_32 = 0xFFFFFFFF
_DRIVE = re.compile(r"[A-Za-z]:")


class InvalidArchive(Exception):
    """An archive that is damaged, unsafe or uses features that are not supported."""


class ArchiveEntry(NamedTuple):
    """A file or folder in an archive."""

    name: str
    """Path with slashes; that of a folder ends with one."""
    size: int
    packed_size: int
    method: int
    encrypted: bool
    offset: int
    """Position of its local header."""
    crc: int
    mode: int = 0
    """Type and permissions of the file on Unix; 0 if they are not recorded."""

    @property
    def is_link(self) -> bool:
        """Whether the content is the target of a symbolic link."""
        return stat.S_ISLNK(self.mode)


class FolderItem(NamedTuple):
    """A direct child of a folder in an archive."""

    name: str
    is_folder: bool
    size: int
    """Size of a file, or of all files below a folder."""


class TreeItem(NamedTuple):
    """A file or folder below a folder in an archive."""

    path: str
    """Path in the archive; that of a folder ends with a slash."""
    is_folder: bool
    size: int | None = None
    mode: int = 0
    """Type and permissions of a file on Unix; 0 if they are not recorded."""


@dataclass(frozen=True, slots=True)
class _Directory:
    """Location of the central directory."""

    count: int
    size: int
    offset: int
    shift: int
    """Number of bytes in front of the archive, which its offsets do not count."""


class ZipArchive:
    """An open archive; use it within ``open_archive``."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._directory = _find_directory(file, size)
        self._map: mmap.mmap | None = None
        self._start = 0
        directory = self._directory
        if directory.size:
            self._map, self._start = _map_directory(file, directory)

    def close(self) -> None:
        """Release the mapping of the directory."""
        if self._map is not None:
            self._map.close()

    def entries(self) -> Iterator[ArchiveEntry]:
        """Yield all entries in the order of the directory; raise InvalidArchive if it is damaged."""
        if self._map is None:
            return
        position, end = self._start, self._start + self._directory.size
        count = 0
        while position < end:
            entry, position = self._entry_at(position, end)
            count += 1
            if count > MAX_ENTRIES:
                raise InvalidArchive(f"it has more than {MAX_ENTRIES} entries")
            yield entry

    def find(self, path: str) -> ArchiveEntry | None:
        """Return the file with a path, the last one if several have it, or None."""
        if self._map is None or not path or path.endswith("/"):
            return None
        name = path.encode(errors="surrogateescape")
        limit = end = self._start + self._directory.size
        for _ in range(_MAX_OCCURRENCES):
            position = self._map.rfind(name, self._start, limit)
            if position < 0:
                return None
            header = position - _ENTRY.size
            if header >= self._start and self._map[header : header + 4] == _ENTRY_MARK:
                entry, _ = self._entry_at(header, end)
                if entry.name == path:
                    return entry
            limit = position + len(name) - 1
        # Many names contain the path, as "a" or a hostile one: to read every entry is faster.
        found = None
        for entry in self.entries():
            if entry.name == path:
                found = entry
        return found

    def list_folder(self, path: str) -> list[FolderItem] | None:
        """Return the files and folders directly in a folder (empty for the root); None if there is no such folder."""
        prefix = f"{path.strip('/')}/" if path.strip("/") else ""
        files: dict[str, int] = {}
        folders: dict[str, int] = {}
        found = not prefix
        for entry in self.entries():
            if not entry.name.startswith(prefix):
                continue
            found = True
            child, slash, _ = entry.name[len(prefix) :].partition("/")
            if slash:
                folders[child] = folders.get(child, 0) + entry.size
            elif child:
                files[child] = entry.size
        if not found:
            return None
        items = [FolderItem(name, True, size) for name, size in sorted(folders.items())]
        return items + [FolderItem(name, False, size) for name, size in sorted(files.items())]

    def list_tree(self, path: str, *, recursive: bool) -> list[TreeItem] | None:
        """Return the files and folders in a folder, or all below it, by path; None if there is no such folder."""
        prefix = f"{path.strip('/')}/" if path.strip("/") else ""
        items: dict[str, TreeItem] = {}
        found = not prefix
        budget = MAX_FOLDER_CHARACTERS
        for entry in self.entries():
            if not entry.name.startswith(prefix):
                continue
            found = True
            for folder in _folders_below(entry.name, len(prefix), recursive=recursive):
                if folder in items:
                    break  # Those above it are known, too.
                items[folder] = TreeItem(folder, True)
                budget -= len(folder)
            if budget < 0:
                raise InvalidArchive("it has too many folders to list")
            name = entry.name[len(prefix) :]
            if name and not name.endswith("/") and (recursive or "/" not in name):
                items[entry.name] = TreeItem(entry.name, False, entry.size, entry.mode)
        return [items[name] for name in sorted(items)] if found else None

    def validate(self) -> None:
        """Raise InvalidArchive for unsafe names, overlapping entries and archives that unpack to far too much."""
        total = packed = 0
        for entry in self.entries():
            if not is_safe_path(entry.name):
                raise InvalidArchive(f"the path of an entry is not allowed: {entry.name[:200]!r}")
            total += entry.size
            packed += entry.packed_size
        if packed > self._size:
            raise InvalidArchive("its entries overlap")
        if total > MIN_BOMB_BYTES and total > MAX_RATIO * self._size:
            raise InvalidArchive(f"it would unpack to more than {MAX_RATIO} times its size")

    def content_offset(self, entry: ArchiveEntry) -> int:
        """Return the position of an entry's data; raise InvalidArchive if it cannot be read."""
        if entry.encrypted:
            raise InvalidArchive("the file is encrypted")
        if entry.method not in (_STORED, _DEFLATED):
            raise InvalidArchive("the file is compressed with a method that is not supported")
        if entry.method == _STORED and entry.size != entry.packed_size:
            raise InvalidArchive("the sizes of the file are inconsistent")
        if entry.size > _DEFLATE_RATIO * (entry.packed_size + 1):
            raise InvalidArchive("the declared size of the file is impossible")
        self._file.seek(entry.offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != _LOCAL_MARK:
            raise InvalidArchive("the header of the file is missing")
        fields = _LOCAL.unpack(header)
        start: int = entry.offset + _LOCAL.size + fields[9] + fields[10]
        if start + entry.packed_size > self._directory.offset:
            raise InvalidArchive("the file is incomplete")
        return start

    def _entry_at(self, position: int, end: int) -> tuple[ArchiveEntry, int]:
        """Return the entry at a position of the map and the position of the next one."""
        data = self._map
        if data is None or position + _ENTRY.size > end:
            raise InvalidArchive("its directory is damaged")
        fields = _ENTRY.unpack_from(data, position)
        mark, flags, method, crc = fields[0], fields[3], fields[4], fields[7]
        packed_size, size, offset = fields[8], fields[9], fields[16]
        name_end = position + _ENTRY.size + fields[10]
        extra_end = name_end + fields[11]
        following = extra_end + fields[12]
        if mark != _ENTRY_MARK or following > end:
            raise InvalidArchive("its directory is damaged")
        if _FULL_32 in (packed_size, size, offset):
            size, packed_size, offset = _read_zip64(data[name_end:extra_end], size, packed_size, offset)
        name = data[position + _ENTRY.size : name_end].decode(errors="surrogateescape")
        entry = ArchiveEntry(
            name,
            size,
            packed_size,
            method,
            bool(flags & _ENCRYPTED_FLAG),
            offset + self._directory.shift,
            crc,
            fields[15] >> 16 if fields[1] >> 8 == _MADE_ON_UNIX else 0,
        )
        return entry, following


@contextmanager
def open_archive(file: BinaryIO, size: int) -> Iterator[ZipArchive]:
    """Open an archive for the block; raise InvalidArchive if it is not one."""
    archive = ZipArchive(file, size)
    try:
        yield archive
    finally:
        archive.close()


def is_safe_path(path: str) -> bool:
    """Return whether a path stays below the folder into which it is unpacked, on every system."""
    parts = path.replace("\\", "/").split("/")
    return (
        0 < len(path) <= MAX_PATH_LENGTH
        and "\0" not in path
        and ".." not in parts
        and parts[0] != ""
        and not (len(parts) > 1 and _DRIVE.fullmatch(parts[0]))
    )


def _folders_below(name: str, start: int, *, recursive: bool) -> Iterator[str]:
    """Yield the folders of a path below a position, the deepest first; or only the one directly there."""
    if not recursive:
        slash = name.find("/", start)
        if slash >= 0:
            yield name[: slash + 1]
        return
    slash = len(name)
    while (slash := name.rfind("/", start, slash)) >= 0:
        yield name[: slash + 1]


def extract(file: BinaryIO, entry: ArchiveEntry, data_offset: int, start: int, stop: int) -> Iterator[bytes]:
    """Yield a byte range of an entry, decompressed in small chunks; never more bytes than the entry declares."""
    stop = min(stop, entry.size)
    if entry.method == _STORED:
        file.seek(data_offset + start)
        while start < stop and (piece := file.read(min(_CHUNK_BYTES, stop - start))):
            start += len(piece)
            yield piece
        return
    position = 0
    for piece in _inflate(file, data_offset, entry.packed_size):
        begin, position = position, position + len(piece)
        if position > start:
            yield piece[max(start - begin, 0) : stop - begin]
        if position >= stop:
            return
    raise InvalidArchive("the file is damaged")


def _inflate(file: BinaryIO, offset: int, packed_size: int) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS)
    file.seek(offset)
    left = packed_size
    rest = b""
    while not decompressor.eof:
        if not rest:
            rest = file.read(min(_CHUNK_BYTES, left))
            left -= len(rest)
            if not rest:
                return
        try:
            piece = decompressor.decompress(rest, 4 * _CHUNK_BYTES)
        except zlib.error as error:
            raise InvalidArchive("the file is damaged") from error
        rest = decompressor.unconsumed_tail
        yield piece


def _find_directory(file: BinaryIO, size: int) -> _Directory:
    """Locate the central directory by the record at the end of the file."""
    tail_size = min(size, _END.size + _MAX_COMMENT_BYTES + _LOCATOR64.size + _END64.size)
    file.seek(size - tail_size)
    tail = file.read(tail_size)
    position = tail.rfind(_END_MARK)
    if position < 0 or position + _END.size > len(tail):
        raise InvalidArchive("it is not a ZIP archive")
    fields = _END.unpack_from(tail, position)
    count, directory_size, offset = fields[4], fields[5], fields[6]
    end = size - tail_size + position
    locator = position - _LOCATOR64.size
    if locator >= 0 and tail[locator : locator + 4] == _LOCATOR64_MARK:
        record_offset = _LOCATOR64.unpack_from(tail, locator)[2]
        file.seek(min(record_offset, size))
        record = file.read(_END64.size)
        if len(record) == _END64.size and record[:4] == _END64_MARK:
            fields64 = _END64.unpack(record)
            count, directory_size, offset = fields64[7], fields64[8], fields64[9]
            end = record_offset
    if directory_size > MAX_DIRECTORY_BYTES or count > MAX_ENTRIES:
        raise InvalidArchive(f"it has more than {MAX_ENTRIES} entries or a directory of more than 64 MB")
    if offset + directory_size > end:
        raise InvalidArchive("its directory is damaged")
    # The directory ends at the end record; programs may have put data in front of the archive.
    return _Directory(count, directory_size, end - directory_size, end - directory_size - offset)


def _map_directory(file: BinaryIO, directory: _Directory) -> tuple[mmap.mmap, int]:
    """Return the bytes of the central directory as a mapping, and where they begin in it."""
    try:
        descriptor = file.fileno()
    except OSError:  # A file in a bucket; its directory is copied into memory.
        file.seek(directory.offset)
        memory = mmap.mmap(-1, directory.size)
        memory.write(file.read(directory.size))
        return memory, 0
    # A mapping begins at a multiple of the page size.
    page = directory.offset - directory.offset % mmap.ALLOCATIONGRANULARITY
    start = directory.offset - page
    return mmap.mmap(descriptor, start + directory.size, access=mmap.ACCESS_READ, offset=page), start


def _read_zip64(extra: bytes, size: int, packed_size: int, offset: int) -> tuple[int, int, int]:
    """Return the sizes and the offset with their 64-bit values, where the entry has them."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        position += 4
        if kind == _ZIP64_EXTRA:
            values = iter(struct.unpack_from(f"<{min(length, len(extra) - position) // 8}Q", extra, position))
            try:
                size = next(values) if size == _FULL_32 else size
                packed_size = next(values) if packed_size == _FULL_32 else packed_size
                offset = next(values) if offset == _FULL_32 else offset
            except StopIteration:
                raise InvalidArchive("its directory is damaged") from None
            return size, packed_size, offset
        position += length
    return size, packed_size, offset
