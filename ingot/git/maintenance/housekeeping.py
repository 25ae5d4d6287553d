"""Keeping a repository fast: packs, commit graph, packed references, and nothing left by crashes.

Nothing here deletes an object that is not in a new pack first, so pushes, fetches and forks may run meanwhile.
Only who writes loose objects has to try twice: git removes the folders that its packing has emptied, and may do
so between somebody's making one and writing into it. Pushes and imports write packs (``transfer.unpackLimit``).
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitTimeout
from ingot.git.maintenance.whole_pack import record_whole_pack

STALE_SECONDS = 6 * 3600
"""Longer than any transfer may take."""
STALE_LOCK_SECONDS = 3600
"""git holds locks for moments, but a killed one leaves them, and then nobody can change what they lock."""
TIMEOUT_SECONDS = 1800.0

_TEMPORARY_FILE = ("tmp_", "incoming-", ".tmp-")

# From what we want to what any git can do; which of them works also depends on what the repository holds.
_REPACK_COMMANDS: Sequence[Sequence[str]] = (
    ("--geometric=2", "--write-midx", "--write-bitmap-index"),
    ("--geometric=2", "--write-midx"),
    ("--geometric=2", "--no-write-bitmap-index"),
    ("--no-write-bitmap-index",),
)


def run_housekeeping(path: Path) -> bool:
    """Put a repository in order; says whether it did, or found somebody else at it."""
    # The folder itself is locked, so that no file stays behind which could be taken for a stale lock.
    descriptor = os.open(path / "objects", os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        prune_temporary(path)
        run_git(["pack-refs", "--all", "--prune"], path, timeout=TIMEOUT_SECONDS)
        _repack(path)
        run_git(
            ["commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"], path, timeout=TIMEOUT_SECONDS
        )
        record_whole_pack(path)
    finally:
        os.close(descriptor)
    return True


def prune_temporary(path: Path, now: float | None = None) -> list[Path]:
    """Delete what killed processes left: half-written files, quarantines and locks; gives what it deleted."""
    pruned = list_temporary(path, now)
    for found in pruned:
        remove_temporary(found)
    return pruned


def list_temporary(
    path: Path,
    now: float | None = None,
    stale_seconds: float = STALE_SECONDS,
    stale_lock_seconds: float = STALE_LOCK_SECONDS,
) -> list[Path]:
    """What killed processes left, as far as it is older than anybody can need it."""
    now = time.time() if now is None else now
    return [
        found
        for found, is_lock in _find_leftovers(path)
        if _age(found, now) > (stale_lock_seconds if is_lock else stale_seconds)
    ]


def remove_temporary(found: Path) -> None:
    """Delete one of them."""
    if found.is_dir():
        shutil.rmtree(found, ignore_errors=True)
    else:
        found.unlink(missing_ok=True)


def _repack(path: Path) -> None:
    for place, options in enumerate(_REPACK_COMMANDS, 1):
        try:
            run_git(["repack", "-d", "-q", *options], path, timeout=TIMEOUT_SECONDS)
        except GitTimeout:
            raise
        except GitError:
            if place == len(_REPACK_COMMANDS):
                raise
        else:
            return


def _find_leftovers(path: Path) -> Iterator[tuple[Path, bool]]:
    """Temporary files and folders, and locks, each with whether it is a lock."""
    # Not by patterns of pathlib, which fails when a folder vanishes while it looks; and they do vanish.
    for folder, folders, files in os.walk(path):
        among_refs = folder.startswith(f"{path}/refs")
        for name in (*folders, *files):
            if name.endswith(".lock"):
                yield Path(folder, name), True
            elif name.startswith(_TEMPORARY_FILE) and not among_refs:
                yield Path(folder, name), False
        folders[:] = [name for name in folders if among_refs or not name.startswith(_TEMPORARY_FILE)]


def _age(found: Path, now: float) -> float:
    """How long nothing was written to it; a quarantine is as young as its youngest file."""
    newest = 0.0
    try:
        newest = found.lstat().st_mtime
        for folder, _, files in os.walk(found):
            newest = max(newest, *(os.lstat(f"{folder}/{file}").st_mtime for file in files), os.lstat(folder).st_mtime)
    except FileNotFoundError:  # Its owner has finished with it; the next run will tell.
        return 0.0
    return now - newest
