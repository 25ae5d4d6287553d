"""Archives of artifacts and caches."""

import gzip
import shutil
import stat
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

_CHUNK = 64 * 1024
_FIRST_YEAR = 1980
"""Earlier times cannot be stored in a zip archive."""


_GIT_FOLDER = ".git"


class UnsafeArchive(Exception):
    """An archive whose files would lie outside of the target."""


def write_zip(target: Path, root: Path, files: Iterable[str]) -> None:
    """Write files to a zip archive, with their permissions; links are stored as links."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, allowZip64=True, compresslevel=5) as archive:
        for name in files:
            path = root / name
            status = path.lstat()
            modified = time.localtime(status.st_mtime)
            entry = zipfile.ZipInfo(
                name, modified[:6] if modified.tm_year >= _FIRST_YEAR else (_FIRST_YEAR, 1, 1, 0, 0, 0)
            )
            entry.external_attr = status.st_mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            if stat.S_ISLNK(status.st_mode):
                archive.writestr(entry, str(path.readlink()))
            elif stat.S_ISREG(status.st_mode):
                entry.file_size = status.st_size
                with path.open("rb") as source, archive.open(entry, "w") as stored:
                    shutil.copyfileobj(source, stored, _CHUNK)


def write_gzip(target: Path, root: Path, files: Iterable[str]) -> None:
    """Write files one after the other, each compressed with its name, as reports are sent."""
    with target.open("wb") as stored:
        for name in files:
            with (root / name).open("rb") as source, gzip.GzipFile(name, "wb", 6, stored) as compressed:
                shutil.copyfileobj(source, compressed, _CHUNK)


def extract_zip(archive_path: Path, root: Path) -> int:
    """Extract an archive below a directory and return the number of its files; raise UnsafeArchive on tricks."""
    root = root.resolve()
    with zipfile.ZipFile(archive_path) as archive:
        entries = archive.infolist()
        for entry in entries:
            _extract_entry(archive, entry, root)
    return len(entries)


def _extract_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, root: Path) -> None:
    name = PurePosixPath(entry.filename)
    if name.is_absolute() or ".." in name.parts or not name.parts:
        raise UnsafeArchive(f"{entry.filename!r} is not a path inside of the project")
    if any(part.lower() == _GIT_FOLDER for part in name.parts):
        # Hooks and settings of git would run commands in later jobs, which use the same clone.
        raise UnsafeArchive(f"{entry.filename!r} would change the repository")
    path = root / name
    mode = entry.external_attr >> 16
    # A link that was extracted earlier must not lead the file out of the project.
    if not path.parent.resolve().is_relative_to(root):
        raise UnsafeArchive(f"{entry.filename!r} would be written outside of the project")
    if _GIT_FOLDER in path.parent.resolve().relative_to(root).parts:
        raise UnsafeArchive(f"{entry.filename!r} would change the repository")
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if stat.S_ISLNK(mode):
        path.symlink_to(archive.read(entry).decode())
        return
    with archive.open(entry) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target, _CHUNK)
    if stat.S_IMODE(mode):
        path.chmod(stat.S_IMODE(mode) & 0o777)
