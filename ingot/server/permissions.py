"""Permissions of an instance's files: the doctor reports those that are too wide, and each start corrects them.

Other users may list the data directory itself, which an administrator may have created with the usual mode 0755, but
must not read what it contains. Only the standard library is imported here, because the supervisor uses this module.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PRIVATE_DIRECTORIES = (
    "secrets",
    "repositories",
    "uploads",
    "lfs",
    "artifacts",
    "traces",
    "packages",
    "secure_files",
    "terraform_states",
    "pages",
    "exports",
    "imports",
    "mail",
    "run",
    "runner",
)
_PRIVATE_FILES = ("secrets/instance.key", "ingot.db", "ingot.db-wal", "ingot.db-shm", "ingot.toml")
_OTHERS = 0o077
_WRITABLE_BY_OTHERS = 0o022


class ExposedPath(NamedTuple):
    """File or directory that other users of the machine can read or change."""

    path: Path
    mode: int
    private_mode: int

    @property
    def problem(self) -> str:
        """Describe the problem in one line."""
        verb = "changed" if self.mode & _WRITABLE_BY_OTHERS else "read"
        return f"{self.path} can be {verb} by others (mode {self.mode:04o} instead of {self.private_mode:04o})"

    def tighten(self) -> None:
        """Remove the permissions of other users."""
        self.path.chmod(self.private_mode)


def private_paths(data: Path) -> list[Path]:
    """Return the existing paths that belong to the server alone."""
    paths = (data / name for name in (".", *_PRIVATE_DIRECTORIES, *_PRIVATE_FILES))
    return [path for path in paths if path.exists()]


def exposed_paths(data: Path) -> Iterator[ExposedPath]:
    """Yield the paths in the data directory that other users can read; none if they cannot enter it."""
    if data.stat().st_mode & _OTHERS:
        private = ((_PRIVATE_DIRECTORIES, 0o700), (_PRIVATE_FILES, 0o600))
        for path, private_mode in ((data / name, mode) for names, mode in private for name in names):
            mode = path.stat().st_mode & 0o777 if path.exists() else 0
            if mode & _OTHERS:
                yield ExposedPath(path, mode, private_mode)


def writable_directory(data: Path) -> ExposedPath | None:
    """Return the data directory if other users can replace the files in it."""
    mode = data.stat().st_mode & 0o777
    return ExposedPath(data, mode, 0o700) if mode & _WRITABLE_BY_OTHERS else None
