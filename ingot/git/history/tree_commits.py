"""Last commit of every path of a tree, found in one walk; ``last_commit`` handles a single path.

Each path is followed to the first parent that has it unchanged, as ``git log -1`` does. git lists the changed paths of
each commit, so a step costs as much as the commit changed. This pays off where many paths are requested.
"""

import threading
from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from typing import Any, NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.log import log_failure
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git

_SLOW_LOOKUPS_BEFORE_WALK = 8
"""This many slow lookups of paths in a repository start a walk of the whole tree."""
_MAX_REPOSITORIES = 1_000
_MAX_TREE_BYTES = 16 * 2**20
_WALK_SECONDS = 20.0
_MAX_MEMORY = 2**30
_PATH_BYTES = 130
"""Memory of a path besides its bytes."""
_LOG_COMMAND = (
    "log",
    "-z",
    "--name-only",
    "--no-renames",
    "--topo-order",
    "--diff-merges=first-parent",
    "--ignore-submodules=none",
    # Paths are never empty, so the field after an empty one is a commit, whatever the file names are.
    "--format=%x00%H %P",
)

LastCommitsByPath = dict[bytes, str]
"""Commit ids by the path that they changed last."""
# Paths that were not found within the time limit are missing.
_tree_cache: BoundedCache[tuple[str, str], LastCommitsByPath] = declare_cache("tree-commits", share=5)
_slow_lookups: dict[str, int] = {}
_walk_lock = threading.Lock()


def cached_tree_commits(repository: Repository, commit: str) -> LastCommitsByPath | None:
    """Return the cached last commits of all paths at a commit, or None."""
    return _tree_cache.get((str(repository.path), commit))


def cached_last_commit(repository: Repository, commit: str, path: bytes) -> str | None:
    """Return the cached last commit of one path at a commit, or None."""
    commits = cached_tree_commits(repository, commit)
    return None if commits is None else commits.get(path)


def record_slow_lookup(repository: Repository, commit: str, paths: int = 1) -> None:
    """Count lookups that had to walk far back; if there are many, start a background walk of the whole tree."""
    repository_key = str(repository.path)
    if len(_slow_lookups) >= _MAX_REPOSITORIES:
        _slow_lookups.clear()
    _slow_lookups[repository_key] = _slow_lookups.get(repository_key, 0) + paths
    if (
        _slow_lookups[repository_key] < _SLOW_LOOKUPS_BEFORE_WALK
        or _tree_cache.get((repository_key, commit)) is not None
        or not _walk_lock.acquire(blocking=False)
    ):
        return
    _slow_lookups.pop(repository_key, None)
    threading.Thread(target=_find_in_background, args=(repository, commit), name="last-commits", daemon=True).start()


def _find_in_background(repository: Repository, commit: str) -> None:
    try:
        find_tree_commits(repository, commit)
    except (GitError, MissingRepository, OSError, KeyError) as error:
        # The tree is too large, or the repository missing or damaged: each path is then looked up by itself.
        log_failure("last commits of a tree not found", error)
        _tree_cache.put((str(repository.path), commit), {}, 250)
    finally:
        _walk_lock.release()


def find_tree_commits(repository: Repository, commit: str) -> LastCommitsByPath:
    """Find the last commit of every file and folder at a commit, except those that are too far back."""
    walk = _TreeWalk(repository, commit)
    end = monotonic() + _WALK_SECONDS
    # The limits matter if a commit of the history has billions of files, which git lists in memory.
    log = stream_git(
        [*_LOG_COMMAND, commit, "--"], repository.path, max_memory=_MAX_MEMORY, max_cpu_seconds=int(_WALK_SECONDS)
    )
    with closing(log) as pieces:
        for step in _parse_changes(pieces):
            walk.take(step)
            if not walk.left or monotonic() > end:
                break
    size = 400 + sum(map(len, walk.found)) + _PATH_BYTES * len(walk.found) + 100 * len(set(walk.found.values()))
    return _tree_cache.put((str(repository.path), commit), walk.found, size)


def read_entry(commit: Any, path: str) -> tuple[Any, int] | None:
    """Return the id and mode of the entry at a path, or None. Not cached, since most entries are read once."""
    try:
        entry = commit.tree[path]
    except KeyError:
        return None
    return entry.id, entry.filemode


class _CommitChanges(NamedTuple):
    """A commit with the paths that it changed compared with its first parent."""

    commit: str
    parents: list[str]
    changed: set[bytes]


def _parse_changes(pieces: Iterator[bytes]) -> Iterator[_CommitChanges]:
    """Parse the changed paths of each commit, children before parents."""
    rest = b""
    step: _CommitChanges | None = None
    header = False
    for piece in pieces:
        *words, rest = (rest + piece).split(b"\0")
        for word in words:
            if not word:
                if step is not None:
                    yield step
                header = True
            elif header:
                commit, *parents = word.decode().split()
                step = _CommitChanges(commit, parents, set())
                header = False
            elif step is not None:
                _add_with_folders(step.changed, word if step.changed else word.removeprefix(b"\n"))
    if step is not None:
        yield step


def _add_with_folders(changed: set[bytes], path: bytes) -> None:
    """Add a path and its parent folders, which change with it."""
    while path and path not in changed:
        changed.add(path)
        path = path.rpartition(b"/")[0]


class _TreeWalk:
    """State of a walk: the commit that each path has reached."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._where = str(repository.path)
        self._objects: Any = open_repository(repository.path)
        args = ["ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit]
        paths = run_git(args, repository.path, max_bytes=_MAX_TREE_BYTES).out.split(b"\0")
        self.found: LastCommitsByPath = {}
        self.left: dict[str, set[bytes]] = {commit: set(filter(None, paths))}

    def take(self, step: _CommitChanges) -> None:
        """Settle each path that waits at a commit, or move it to a parent that has it unchanged."""
        paths = self.left.pop(step.commit, None)
        if paths is None:
            return
        cached = _tree_cache.get((self._where, step.commit))
        if cached is not None:
            self.found |= {path: cached[path] for path in paths if path in cached}
            return
        if not step.parents:
            self.found |= dict.fromkeys(paths, step.commit)
            return
        changed = paths & step.changed
        paths -= changed
        self._wait_at(step.parents[0], paths)
        for path in changed:
            parent = self._same_in(step, path)
            if parent is None:
                self.found[path] = step.commit
            else:
                self._wait_at(parent, {path})

    def _same_in(self, step: _CommitChanges, path: bytes) -> str | None:
        """Return the first of the further parents that has the path unchanged, or None."""
        if len(step.parents) == 1:
            return None
        name = path.decode("utf-8", "surrogateescape")
        entry = read_entry(self._objects[step.commit], name)
        return next((parent for parent in step.parents[1:] if read_entry(self._objects[parent], name) == entry), None)

    def _wait_at(self, commit: str, paths: set[bytes]) -> None:
        if not paths:
            return
        waiting = self.left.setdefault(commit, paths)
        if waiting is not paths:
            smaller, larger = sorted((waiting, paths), key=len)
            larger |= smaller
            self.left[commit] = larger
