"""Checks of the data directory: permissions, secret and leftover files."""

import os
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ingot.core.migrations.run import RESTORING
from ingot.operations.doctor.findings import DoctorFinding

_PRIVATE_FOLDERS = (".", "secrets")
_PRIVATE_FILES = ("secrets/instance.key", "ingot.db", "ingot.db-wal", "ingot.db-shm", "ingot.toml")
_SECRET = re.compile(r"[0-9a-f]{64}")
STALE_SECONDS = 3600


def check_files(data: Path) -> Iterator[DoctorFinding]:
    """Run the checks that need no database."""
    if not data.is_dir():
        yield DoctorFinding(f"There is no data directory {data}")
        return
    if (data / RESTORING).exists():
        yield DoctorFinding(
            f"A restore into {data} has not finished; unless it is still running, empty the directory and restore again"
        )
    yield from _check_permissions(data)
    yield from _check_secret(data / "secrets" / "instance.key")
    yield from _check_leftovers(data)


def _check_permissions(data: Path) -> Iterator[DoctorFinding]:
    for names, expected_mode in ((_PRIVATE_FOLDERS, 0o700), (_PRIVATE_FILES, 0o600)):
        for path in (data / name for name in names):
            if not path.exists():
                continue
            status = path.stat()
            if status.st_mode & 0o077:
                mode = status.st_mode & 0o777
                text = f"{path} can be read by others (mode {mode:04o} instead of {expected_mode:04o})"
                yield DoctorFinding(text, partial(path.chmod, expected_mode))
            if status.st_uid != os.geteuid():
                yield DoctorFinding(f"{path} belongs to user {status.st_uid}, but the current user is {os.geteuid()}")


def _check_secret(key: Path) -> Iterator[DoctorFinding]:
    try:
        text = key.read_text().strip()
    except FileNotFoundError:
        yield DoctorFinding(f"The instance secret is missing: restore {key} from a backup")
    except (OSError, UnicodeDecodeError) as error:
        yield DoctorFinding(f"The instance secret cannot be read: {error}")
    else:
        if not _SECRET.fullmatch(text):
            yield DoctorFinding(f"The instance secret is damaged: restore {key} from a backup")


def _check_leftovers(data: Path) -> Iterator[DoctorFinding]:
    """Find temporary files of killed writers; recent ones may still be in use."""
    for folder, _, names in os.walk(data):
        for name in names:
            path = Path(folder, name)
            if not _is_temporary(data, path):
                continue
            try:
                age = time.time() - path.lstat().st_mtime
            except FileNotFoundError:  # Its writer has just finished.
                continue
            if age > STALE_SECONDS:
                yield DoctorFinding(
                    f"{path} was left behind {age / 3600:.0f} hours ago", partial(path.unlink, missing_ok=True)
                )


def _is_temporary(data: Path, path: Path) -> bool:
    """Check whether a file is a temporary file of the server.

    The name alone is not enough: an uploaded file may have the same name. Repositories have their own check.
    """
    folder, *rest = path.relative_to(data).parts
    match folder:
        case "secrets":
            return path.name.startswith(".")
        case "run":
            return path.suffix == ".fresh"
    return not rest and path.suffix == ".partial"
