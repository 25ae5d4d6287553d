"""The archive itself: files go in with their checksums, and come out only after all of them were checked."""

import gzip
import hashlib
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

import msgspec

from ingot.operations.backups.layout import (
    FOLDERS,
    MANIFEST,
    REPOSITORY_RECORD,
    SETTINGS,
    TABLES,
    BackupError,
    Manifest,
    is_identifier,
)
from ingot.operations.backups.layout import (
    member_name as member_of,
)

_COMPRESSION = 6
_CHUNK = 2**20
_MAX_MANIFEST_BYTES = 2**30


class _HashingReader:
    """Reads a file for the archive, and knows afterwards what was read."""

    def __init__(self, file: IO[bytes], beat: Callable[[], None]) -> None:
        self._file = file
        self._beat = beat
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        self._beat()
        content = self._file.read(size)
        self._digest.update(content)
        return content

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


class ArchiveWriter:
    """Puts files into an archive and remembers their checksums."""

    def __init__(self, file: IO[bytes]) -> None:
        self._tar = tarfile.open(  # noqa: SIM115 - Closed by ``close``; an archive that is not is not whole.
            fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT, compresslevel=_COMPRESSION
        )
        self.members: dict[str, str] = {}
        self.beat: Callable[[], None] = lambda: None
        """Called again and again while files are read."""

    def add(self, name: str, file: IO[bytes], mode: int = 0o600) -> None:
        """Add a file as it is now."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = file.seek(0, os.SEEK_END), (mode & 0o700) | 0o600
        file.seek(0)
        measured = _HashingReader(file, self.beat)
        self._tar.addfile(entry, measured)
        self.members[name] = measured.hexdigest()

    def add_file(self, file_path: Path, name: PurePath) -> None:
        """Add a file under a name, if it is still there."""
        try:
            file = file_path.open("rb")
        except FileNotFoundError:
            return
        with file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode):
                self.add(name.as_posix(), file, mode)

    def add_folder(self, folder: Path, name: PurePath) -> None:
        """Add a folder under a name, with all below it, also folders that are empty: git needs them."""
        for path in _list_folder(folder):
            if path.is_dir():
                entry = tarfile.TarInfo((name / path.relative_to(folder)).as_posix())
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                self._tar.addfile(entry)
            else:
                self.add_file(path, name / path.relative_to(folder))

    def close(self) -> None:
        """Write what is still held back."""
        self._tar.close()


def _list_folder(folder: Path) -> Iterator[Path]:
    """The folder and what lies below it; links are left out, because they lead elsewhere."""
    yield folder
    for where, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(where, name)
            if not path.is_symlink():
                yield path


@contextmanager
def open_archive(file: IO[bytes], name: object) -> Iterator[tarfile.TarFile]:
    """The archive from its beginning; whatever is wrong with it is said in words."""
    file.seek(0)
    try:
        with gzip.GzipFile(fileobj=file) as content:
            with tarfile.open(fileobj=content, mode="r|") as archive:
                yield archive
            # The archive ends before the file does, and only there is told whether all of it arrived.
            while content.read(_CHUNK):
                pass
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BackupError(f"{name} is damaged, or no backup at all: {error}") from error


def verify_archive(file: IO[bytes], name: object) -> Manifest:
    """Read the whole archive once and compare it with its manifest; nothing is written anywhere."""
    found: dict[str, str] = {}
    manifest: Manifest | None = None
    with open_archive(file, name) as archive:
        for member in archive:
            _reject_unsafe_member(member, found)
            if member.isdir():
                continue
            content = archive.extractfile(member)
            assert content is not None  # noqa: S101 - It is a regular file.
            if member.name == MANIFEST:
                manifest = _read_manifest(content, member.size, name)
            else:
                found[member.name] = _digest(content)
    if manifest is None:
        raise BackupError(f"{name} is not whole: its manifest is missing")
    for member_name in sorted(found.keys() | manifest.members.keys()):
        if found.get(member_name) != manifest.members.get(member_name):
            raise BackupError(f"{name} is damaged: {member_name} is not what the manifest says")
    return manifest


def _read_manifest(content: IO[bytes], size: int, name: object) -> Manifest:
    if size > _MAX_MANIFEST_BYTES:
        raise BackupError(f"{name} is no backup: its manifest is too large")
    text = content.read()
    try:
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as error:
        raise BackupError(f"{name} has a manifest that cannot be read: {error}") from error
    names = [entry.name for entry in manifest.tables]
    good = all(map(is_identifier, names)) and all(
        is_identifier(column) for entry in manifest.tables for column in entry.columns
    )
    tables = {member for member in manifest.members if member.startswith(f"{TABLES}/")}
    if not good or len(set(names)) < len(names) or tables != set(map(member_of, names)):
        raise BackupError(f"{name} has a manifest whose tables do not fit together")
    return manifest


def _digest(content: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := content.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _reject_unsafe_member(member: tarfile.TarInfo, found: dict[str, str]) -> None:
    """Only files and folders whose place is known; a link or a path that leads out of the directory is an attack."""
    path = PurePosixPath(member.name)
    known = path.parts[:1] and (
        path.parts[0] in (TABLES, *FOLDERS) or member.name in (MANIFEST, SETTINGS, REPOSITORY_RECORD)
    )
    if not (member.isreg() or member.isdir()) or path.is_absolute() or ".." in path.parts or "\0" in member.name:
        raise BackupError(f"The backup holds {member.name!r}, which would lead out of the data directory; not used")
    if not known or member.name in found:
        raise BackupError(f"The backup holds {member.name!r}, which has no place in one; not used")
