"""The archive itself: files go in with their checksums, and come out only after all of them were checked."""

import gzip
import hashlib
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

import msgspec

from ingot.backups.layout import FOLDERS, MANIFEST, SETTINGS, TABLES, BackupTrouble, Manifest, is_name, member_of

_COMPRESSION = 6
_CHUNK = 2**20
_LARGEST_MANIFEST = 2**30


class _Measured:
    """Reads a file for the archive, and knows afterwards what was read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
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

    def add(self, name: str, file: IO[bytes], mode: int = 0o600) -> None:
        """Add a file as it is now."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = file.seek(0, os.SEEK_END), (mode & 0o700) | 0o600
        file.seek(0)
        measured = _Measured(file)
        self._tar.addfile(entry, measured)
        self.members[name] = measured.hexdigest()

    def add_file(self, data: Path, path: PurePath) -> None:
        """Add a file of the data directory, if it is still there."""
        try:
            file = (data / path).open("rb")
        except FileNotFoundError:
            return
        with file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode):
                self.add(path.as_posix(), file, mode)

    def add_folder(self, data: Path, name: str) -> None:
        """Add what lies below a folder of the data directory, also folders that are empty: git needs them."""
        for path in _contents(data, name):
            if (data / path).is_dir():
                entry = tarfile.TarInfo(path.as_posix())
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                self._tar.addfile(entry)
            else:
                self.add_file(data, path)

    def close(self) -> None:
        """Write what is still held back."""
        self._tar.close()


def _contents(data: Path, name: str) -> Iterator[PurePath]:
    yield PurePath(name)
    for turn in range(4):
        for folder, folders, files in os.walk(data / name):
            for entry in sorted((*folders, *files)):
                path = Path(folder, entry).relative_to(data)
                if _turn(path) == turn and not _is_left_out(data, path):
                    yield path


def _turn(path: PurePath) -> int:
    """When a file is copied: git moves things in a living repository, and none may be missed on its way.

    Refs come before the objects that they need, loose ones before packed ones, because that is where they go.
    """
    if "objects" not in path.parts:
        return 1 if path.name == "packed-refs" else 0
    return 3 if "pack" in path.parts else 2


def _is_left_out(data: Path, path: PurePath) -> bool:
    """Links lead elsewhere, and a lock of git, restored without its holder, would never be given back."""
    if (data / path).is_symlink():
        return True
    # No ref can be called so; what people upload can.
    return path.parts[0] == "repositories" and path.suffix == ".lock" and not (data / path).is_dir()


@contextmanager
def reading(file: IO[bytes], name: object) -> Iterator[tarfile.TarFile]:
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
        raise BackupTrouble(f"{name} is damaged, or no backup at all: {error}") from error


def verify(file: IO[bytes], name: object) -> Manifest:
    """Read the whole archive once and compare it with its manifest; nothing is written anywhere."""
    found: dict[str, str] = {}
    manifest: Manifest | None = None
    with reading(file, name) as archive:
        for member in archive:
            _refuse_strange(member, found)
            if member.isdir():
                continue
            content = archive.extractfile(member)
            assert content is not None  # noqa: S101 - It is a regular file.
            if member.name == MANIFEST:
                manifest = _read_manifest(content, member.size, name)
            else:
                found[member.name] = _digest(content)
    if manifest is None:
        raise BackupTrouble(f"{name} is not whole: its manifest is missing")
    for member_name in sorted(found.keys() | manifest.members.keys()):
        if found.get(member_name) != manifest.members.get(member_name):
            raise BackupTrouble(f"{name} is damaged: {member_name} is not what the manifest says")
    return manifest


def _read_manifest(content: IO[bytes], size: int, name: object) -> Manifest:
    if size > _LARGEST_MANIFEST:
        raise BackupTrouble(f"{name} is no backup: its manifest is too large")
    text = content.read()
    try:
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as error:
        raise BackupTrouble(f"{name} has a manifest that cannot be read: {error}") from error
    names = [entry.name for entry in manifest.tables]
    good = all(map(is_name, names)) and all(is_name(column) for entry in manifest.tables for column in entry.columns)
    tables = {member for member in manifest.members if member.startswith(f"{TABLES}/")}
    if not good or len(set(names)) < len(names) or tables != set(map(member_of, names)):
        raise BackupTrouble(f"{name} has a manifest whose tables do not fit together")
    return manifest


def _digest(content: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := content.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _refuse_strange(member: tarfile.TarInfo, found: dict[str, str]) -> None:
    """Only files and folders whose place is known; a link or a path that leads out of the directory is an attack."""
    path = PurePosixPath(member.name)
    known = path.parts[:1] and (path.parts[0] in (TABLES, *FOLDERS) or member.name in (MANIFEST, SETTINGS))
    if not (member.isreg() or member.isdir()) or path.is_absolute() or ".." in path.parts or "\0" in member.name:
        raise BackupTrouble(f"The backup holds {member.name!r}, which would lead out of the data directory; not used")
    if not known or member.name in found:
        raise BackupTrouble(f"The backup holds {member.name!r}, which has no place in one; not used")
