"""Housekeeping of a repository: packs, commit graph, packed refs and removal of temporary files.

No object is deleted before it is in a new pack, so pushes, fetches and forks may run concurrently. Only writers of
loose objects must retry: git removes emptied object folders, possibly between the creation of a folder and the write
into it. Pushes and imports write packs (``transfer.unpackLimit``).
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingot.core.log import log_failure
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitLimitReached, GitTimeout
from ingot.git.core.shared_disks import file_lock, now_on_disk

STALE_SECONDS = 6 * 3600
"""Longer than any transfer may take."""
STALE_LOCK_SECONDS = 3600
"""git holds locks only briefly; a killed process leaves its lock file, which would block later changes."""
TIMEOUT_SECONDS = 1800.0
_MIN_FILTER_SECONDS = 30.0
_FILTERED_BYTES_PER_SECOND = 2**20
"""Size of packs per second of the time that the filters may take."""

_TEMPORARY_FILE = ("tmp_", "incoming-", ".tmp-")

# From the preferred options to those that every git supports; which work also depends on the repository.
_REPACK_COMMANDS: Sequence[Sequence[str]] = (
    ("--geometric=2", "--write-midx", "--write-bitmap-index"),
    ("--geometric=2", "--write-midx"),
    ("--geometric=2", "--no-write-bitmap-index"),
    ("--no-write-bitmap-index",),
)


def run_housekeeping(path: Path) -> bool:
    """Repack and clean up a repository; return False if another process is doing so."""
    with file_lock(path / "ingot-housekeeping", wait=False) as is_locked:
        if not is_locked:
            return False
        prune_temporary(path)
        run_git(["pack-refs", "--all", "--prune"], path, timeout=TIMEOUT_SECONDS, max_memory=None)
        _repack(path)
        _write_commit_graph(path)
    return True


def _write_commit_graph(path: Path) -> None:
    """Write the commit graph with Bloom filters of changed paths, or without them if these take too long.

    A few objects can describe a commit with billions of folders, all of which git reads for its filter.
    """
    command = ["commit-graph", "write", "--reachable", "--no-progress"]
    size = sum(pack.stat().st_size for pack in path.glob("objects/pack/*.pack"))
    seconds = min(TIMEOUT_SECONDS, _MIN_FILTER_SECONDS + size / _FILTERED_BYTES_PER_SECOND)
    try:
        run_git([*command, "--changed-paths"], path, timeout=seconds)
    except GitLimitReached as error:
        log_failure("commit graph written without filters", error)
        # Of the killed process; no other one writes a commit graph meanwhile.
        (path / "objects" / "info" / "commit-graph.lock").unlink(missing_ok=True)
        run_git([*command, "--no-changed-paths"], path, timeout=TIMEOUT_SECONDS, max_memory=None)


def prune_temporary(path: Path, now: float | None = None) -> list[Path]:
    """Delete temporary files, quarantines and locks of killed processes; return the deleted paths."""
    pruned = list_temporary(path, now)
    for leftover in pruned:
        remove_temporary(leftover)
    return pruned


def remove_stale_locks(path: Path) -> None:
    """Delete the locks of killed processes on refs, ``HEAD``, ``packed-refs`` and the configuration.

    Unlike ``prune_temporary``, it does not read the folders of objects, and so can visit all repositories.
    """
    locks = [lock for lock, is_lock in _find_leftovers(path / "refs") if is_lock]
    locks += [Path(entry.path) for entry in os.scandir(path) if entry.name.endswith(".lock")]
    if locks:
        now = now_on_disk(path)
        for lock in locks:
            if _age(lock, now) > STALE_LOCK_SECONDS:
                remove_temporary(lock)


def list_temporary(
    path: Path,
    now: float | None = None,
    stale_seconds: float = STALE_SECONDS,
    stale_lock_seconds: float = STALE_LOCK_SECONDS,
) -> list[Path]:
    """List temporary files, quarantines and locks that are older than any running process can be."""
    now = now_on_disk(path) if now is None else now
    return [
        leftover
        for leftover, is_lock in _find_leftovers(path)
        if _age(leftover, now) > (stale_lock_seconds if is_lock else stale_seconds)
    ]


def remove_temporary(leftover: Path) -> None:
    """Delete a temporary file or folder."""
    if leftover.is_dir():
        shutil.rmtree(leftover, ignore_errors=True)
    else:
        leftover.unlink(missing_ok=True)


def _repack(path: Path) -> None:
    for attempt, options in enumerate(_REPACK_COMMANDS, 1):
        try:
            run_git(["repack", "-d", "-q", *options], path, timeout=TIMEOUT_SECONDS, max_memory=None)
        except GitTimeout:
            raise
        except GitError:
            if attempt == len(_REPACK_COMMANDS):
                raise
        else:
            return


def _find_leftovers(path: Path) -> Iterator[tuple[Path, bool]]:
    """Yield temporary files, folders and locks, each with whether it is a lock."""
    # Not with pathlib's patterns, which fail when a folder is deleted during the walk.
    for folder, folders, files in os.walk(path):
        among_refs = folder.startswith(f"{path}/refs")
        for name in (*folders, *files):
            if name.endswith(".lock"):
                yield Path(folder, name), True
            elif name.startswith(_TEMPORARY_FILE) and not among_refs:
                yield Path(folder, name), False
        folders[:] = [name for name in folders if among_refs or not name.startswith(_TEMPORARY_FILE)]


def _age(leftover: Path, now: float) -> float:
    """Return the seconds since the last write; a quarantine is as young as its youngest file."""
    newest = 0.0
    try:
        newest = leftover.lstat().st_mtime
        for folder, _, files in os.walk(leftover):
            newest = max(newest, *(os.lstat(f"{folder}/{file}").st_mtime for file in files), os.lstat(folder).st_mtime)
    except FileNotFoundError:  # Its owner has removed it meanwhile.
        return 0.0
    return now - newest
