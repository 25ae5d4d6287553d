"""Checks of the data directory: permissions, free space, secret and leftover files."""

import os
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ingot.core.disk_space import DiskSpace
from ingot.core.migrations.run import RESTORING
from ingot.core.settings import Settings
from ingot.maintenance.doctor.findings import DoctorFinding
from ingot.server.permissions import exposed_paths, private_paths, writable_directory

_SECRET = re.compile(r"[0-9a-f]{64}")
STALE_SECONDS = 3600


def check_files(settings: Settings) -> Iterator[DoctorFinding]:
    """Run the checks that need no database."""
    data = settings.data
    if not data.is_dir():
        yield DoctorFinding(f"There is no data directory {data}")
        return
    if (data / RESTORING).exists():
        yield DoctorFinding(
            f"A restore into {data} has not finished; unless it is still running, empty the directory and restore again"
        )
    yield from _check_permissions(data)
    yield from _check_space(settings)
    yield from _check_secret(data / "secrets" / "instance.key")
    yield from _check_leftovers(data)


def _check_permissions(data: Path) -> Iterator[DoctorFinding]:
    writable = writable_directory(data)
    for exposed in [*([writable] if writable else []), *exposed_paths(data)]:
        yield DoctorFinding(exposed.problem, exposed.tighten)
    for path in private_paths(data):
        owner = path.stat().st_uid
        if owner != os.geteuid():
            yield DoctorFinding(f"{path} belongs to user {owner}, but the current user is {os.geteuid()}")


def _check_space(settings: Settings) -> Iterator[DoctorFinding]:
    disks = DiskSpace(settings)
    for volume in disks.low_volumes():
        free = f"{volume.free_bytes // 2**20} MB"
        if volume.free_files is not None and volume.free_bytes >= disks.min_free_bytes:
            free = f"space for {volume.free_files} files"
        limit = f"INGOT_MIN_FREE_MB is {settings.min_free_mb}"
        yield DoctorFinding(f"The disk of {volume.path} has only {free} free ({limit}): free some space")


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
