"""Archive of a backup: files are written with checksums, and read only after all of them were verified."""

import gzip
import hashlib
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Self

import msgspec

from ingot.maintenance.backups.layout import (
    FOLDERS,
    MANIFEST,
    REPOSITORY_RECORD,
    SETTINGS,
    TABLES,
    BackupError,
    Manifest,
    is_identifier,
)
from ingot.maintenance.backups.layout import (
    member_name as member_of,
)

_COMPRESSION = 6
_CHUNK = 2**20
_MAX_MANIFEST_BYTES = 2**30
_MAX_EXTENDED_HEADER_BYTES = 2**20
_EXTENDED_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class _CheckedHeader(tarfile.TarInfo):
    """Header of a member; names and attributes of unlimited length would be read into memory as a whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Parse a header; raise ``ReadError`` if extended headers of this size cannot belong to a backup."""
        header = super().frombuf(buf, encoding, errors)
        if header.size < 0 or (header.type in _EXTENDED_HEADERS and header.size > _MAX_EXTENDED_HEADER_BYTES):
            raise tarfile.ReadError("a header is too large")
        return header


class _HashingReader:
    """Reader that hashes the bytes it returns."""

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
    """Writer of an archive that records the checksum of each file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._tar = tarfile.open(  # noqa: SIM115 - Closed by ``close``; without it, the archive is incomplete.
            fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT, compresslevel=_COMPRESSION
        )
        self.members: dict[str, str] = {}
        self.beat: Callable[[], None] = lambda: None
        """Called repeatedly while files are read."""

    def add(self, name: str, file: IO[bytes], mode: int = 0o600) -> None:
        """Add an open file."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = file.seek(0, os.SEEK_END), (mode & 0o700) | 0o600
        file.seek(0)
        reader = _HashingReader(file, self.beat)
        self._tar.addfile(entry, reader)
        self.members[name] = reader.hexdigest()

    def add_file(self, file_path: Path, name: PurePath) -> None:
        """Add a file under a name, if it still exists."""
        try:
            file = file_path.open("rb")
        except FileNotFoundError:
            return
        with file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode):
                self.add(name.as_posix(), file, mode)

    def add_folder(self, folder: Path, name: PurePath) -> None:
        """Add a folder and everything below it, including empty folders: git needs them."""
        for path in _list_folder(folder):
            if path.is_dir():
                entry = tarfile.TarInfo((name / path.relative_to(folder)).as_posix())
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                self._tar.addfile(entry)
            else:
                self.add_file(path, name / path.relative_to(folder))

    def close(self) -> None:
        """Write the end of the archive."""
        self._tar.close()


def _list_folder(folder: Path) -> Iterator[Path]:
    """Yield the folder and everything below it, without symbolic links, which may point outside."""
    yield folder
    for parent, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(parent, name)
            if not path.is_symlink():
                yield path


@contextmanager
def open_archive(file: IO[bytes], name: object) -> Iterator[tarfile.TarFile]:
    """Open the archive from its beginning; raise BackupError if it is damaged."""
    file.seek(0)
    try:
        with gzip.GzipFile(fileobj=file) as content:
            with tarfile.open(fileobj=content, mode="r|", tarinfo=_CheckedHeader) as archive:
                yield archive
            # The archive ends before the file; reading to its end verifies the gzip checksum.
            while content.read(_CHUNK):
                pass
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BackupError(f"{name} is damaged or is not a backup: {error}") from error


def checked_members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the members of an archive; raise BackupError for one that does not belong into a backup."""
    files: set[str] = set()
    folders: set[str] = set()
    for member in archive:
        _reject_unsafe_member(member)
        above = {str(path) for path in PurePosixPath(member.name).parents} - {"."}
        own = set() if member.isdir() else {member.name}
        if member.name in files or own & folders or above & files:
            raise BackupError(f"The backup contains {member.name!r} twice; it was rejected")
        files |= own
        folders |= above if own else {*above, member.name}
        yield member


def verify_archive(file: IO[bytes], name: object, max_bytes: int) -> Manifest:
    """Read the whole archive and compare it with its manifest, without writing anything.

    Raise BackupError as soon as the files have more than ``max_bytes``, which the target does not have.
    """
    checksums: dict[str, str] = {}
    manifest: Manifest | None = None
    total = 0
    with open_archive(file, name) as archive:
        for member in checked_members(archive):
            total += member.size
            if total > max_bytes:
                raise BackupError(f"The files in {name} need more space than the {max_bytes} bytes that are free")
            if member.isdir():
                continue
            content = archive.extractfile(member)
            assert content is not None  # noqa: S101 - It is a regular file.
            if member.name == MANIFEST:
                manifest = _read_manifest(content, member.size, name)
            else:
                checksums[member.name] = _digest(content)
    if manifest is None:
        raise BackupError(f"{name} is incomplete: its manifest is missing")
    for member_name in sorted(checksums.keys() | manifest.members.keys()):
        if checksums.get(member_name) != manifest.members.get(member_name):
            raise BackupError(f"{name} is damaged: {member_name} does not match the manifest")
    return manifest


def _read_manifest(content: IO[bytes], size: int, name: object) -> Manifest:
    if size > _MAX_MANIFEST_BYTES:
        raise BackupError(f"{name} is not a backup: its manifest is too large")
    text = content.read()
    try:
        manifest = msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as error:
        raise BackupError(f"{name} has a manifest that cannot be read: {error}") from error
    names = [entry.name for entry in manifest.tables]
    valid = all(map(is_identifier, names)) and all(
        is_identifier(column) for entry in manifest.tables for column in entry.columns
    )
    tables = {member for member in manifest.members if member.startswith(f"{TABLES}/")}
    if not valid or len(set(names)) < len(names) or tables != set(map(member_of, names)):
        raise BackupError(f"{name} has a manifest with inconsistent tables")
    return manifest


def _digest(content: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := content.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _reject_unsafe_member(member: tarfile.TarInfo) -> None:
    """Reject members other than files and folders in expected locations; links and paths with ``..`` are attacks.

    A sparse file of a few bytes may expand to any size, and a name in another spelling may replace another member.
    """
    path = PurePosixPath(member.name)
    expected = path.parts[:1] and (
        path.parts[0] in (TABLES, *FOLDERS) or member.name in (MANIFEST, SETTINGS, REPOSITORY_RECORD)
    )
    plain = (member.isreg() and not member.issparse()) or member.isdir()
    if not plain or path.is_absolute() or ".." in path.parts or "\0" in member.name:
        raise BackupError(
            f"The backup contains {member.name!r}, which is outside of the data directory; it was rejected"
        )
    if not expected or member.name != path.as_posix():
        raise BackupError(f"The backup contains {member.name!r}, which is not expected; it was rejected")
