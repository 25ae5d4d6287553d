"""The last commit of every path of a tree, in one walk of the history; for one path alone see lastcommit.py.

Each path goes back by itself, to the first parent that has the same, as ``git log -1`` does. Git tells what each
commit changed, so that a step costs what was changed and not what there is. It pays where many paths are asked for.
"""

import threading
from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from typing import Any, NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git
from ingot.log import log_failure

_SLOW_LOOKUPS_BEFORE_WALK = 8
"""So many paths that took long to find make it worth while to look for all."""
_MAX_REPOSITORIES = 1_000
_MAX_TREE_BYTES = 16 * 2**20
_WALK_SECONDS = 20.0
_PATH_BYTES = 130
"""What a path takes besides its own bytes."""
_LOG_COMMAND = (
    "log",
    "-z",
    "--name-only",
    "--no-renames",
    "--topo-order",
    "--diff-merges=first-parent",
    "--ignore-submodules=none",
    "--format=%x00%H %P",  # No path is empty: what follows an empty one is a commit, whatever files are called.
)

LastCommitsByPath = dict[bytes, str]
"""Commits by the paths that they changed last."""
# What could not be found in time is not among them.
_tree_cache: BoundedCache[tuple[str, str], LastCommitsByPath] = declare_cache("tree-commits", share=6)
_slow_lookups: dict[str, int] = {}
_walk_lock = threading.Lock()


def cached_tree_commits(repository: Repository, commit: str) -> LastCommitsByPath | None:
    """The last commits of all paths that a commit has, if they have been looked for."""
    return _tree_cache.get((str(repository.path), commit))


def cached_last_commit(repository: Repository, commit: str, path: bytes) -> str | None:
    """The same of one path."""
    known = cached_tree_commits(repository, commit)
    return None if known is None else known.get(path)


def record_slow_lookup(repository: Repository, commit: str, paths: int = 1) -> None:
    """Somebody had to look far back for so many paths: where that happens often, all are found beside other work."""
    where = str(repository.path)
    if len(_slow_lookups) >= _MAX_REPOSITORIES:
        _slow_lookups.clear()
    _slow_lookups[where] = _slow_lookups.get(where, 0) + paths
    if (
        _slow_lookups[where] < _SLOW_LOOKUPS_BEFORE_WALK
        or _tree_cache.get((where, commit)) is not None
        or not _walk_lock.acquire(blocking=False)
    ):
        return
    _slow_lookups.pop(where, None)
    threading.Thread(target=_find_in_background, args=(repository, commit), name="last-commits", daemon=True).start()


def _find_in_background(repository: Repository, commit: str) -> None:
    try:
        find_tree_commits(repository, commit)
    except (GitError, MissingRepository, OSError, KeyError) as error:
        # A tree too large, a repository that is gone or damaged: each path is then looked up by itself.
        log_failure("last commits of a tree not found", error)
        _tree_cache.put((str(repository.path), commit), {}, 250)
    finally:
        _walk_lock.release()


def find_tree_commits(repository: Repository, commit: str) -> LastCommitsByPath:
    """The last commit of every file and folder that a commit has, but of those that lie too far back."""
    walk = _TreeWalk(repository, commit)
    end = monotonic() + _WALK_SECONDS
    with closing(stream_git([*_LOG_COMMAND, commit, "--"], repository.path)) as pieces:
        for step in _parse_changes(pieces):
            walk.take(step)
            if not walk.left or monotonic() > end:
                break
    size = 400 + sum(map(len, walk.found)) + _PATH_BYTES * len(walk.found) + 100 * len(set(walk.found.values()))
    return _tree_cache.put((str(repository.path), commit), walk.found, size)


def read_entry(commit: Any, path: str) -> tuple[Any, int] | None:
    """What a commit has at a path: the id and the mode, not kept, since most is looked at once."""
    try:
        found = commit.tree[path]
    except KeyError:
        return None
    return found.id, found.filemode


class _CommitChanges(NamedTuple):
    """A commit, and what it changed of what its first parent has."""

    commit: str
    parents: list[str]
    changed: set[bytes]


def _parse_changes(pieces: Iterator[bytes]) -> Iterator[_CommitChanges]:
    """What git says of each commit, children before their parents."""
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
    """A folder is changed by whatever changes in it."""
    while path and path not in changed:
        changed.add(path)
        path = path.rpartition(b"/")[0]


class _TreeWalk:
    """Where each path has come to."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._where = str(repository.path)
        self._objects: Any = open_repository(repository.path)
        listed = ["ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit]
        paths = run_git(listed, repository.path, max_bytes=_MAX_TREE_BYTES).out.split(b"\0")
        self.found: LastCommitsByPath = {}
        self.left: dict[str, set[bytes]] = {commit: set(filter(None, paths))}

    def take(self, step: _CommitChanges) -> None:
        """Let each path that waits at a commit stay there for good, or go on."""
        paths = self.left.pop(step.commit, None)
        if paths is None:
            return
        known = _tree_cache.get((self._where, step.commit))
        if known is not None:
            self.found |= {path: known[path] for path in paths if path in known}
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
        """The first of the further parents that has the same at a path."""
        if len(step.parents) == 1:
            return None
        named = path.decode("utf-8", "surrogateescape")
        own = read_entry(self._objects[step.commit], named)
        return next((one for one in step.parents[1:] if read_entry(self._objects[one], named) == own), None)

    def _wait_at(self, commit: str, paths: set[bytes]) -> None:
        if not paths:
            return
        waiting = self.left.setdefault(commit, paths)
        if waiting is not paths:
            smaller, larger = sorted((waiting, paths), key=len)
            larger |= smaller
            self.left[commit] = larger
