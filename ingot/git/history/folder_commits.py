"""Last commit of each entry of a folder, found in one walk; ``last_commit`` handles a single path.

Each entry is followed to the first parent that has it unchanged, as ``git log -1`` does. Entries that reach the same
commit continue together, the newest commit first, so that each commit is read once.
"""

import heapq
import re
from collections.abc import Collection, Iterable
from time import monotonic
from typing import TYPE_CHECKING

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.errors import GitError
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.path_log import log_last_commit
from ingot.git.history.tree_commits import cached_tree_commits, record_slow_lookup

if TYPE_CHECKING:
    import pygit2

NOT_FOUND_IN_TIME = ""
"""Placeholder for a commit that could not be found within the time limit."""
_INLINE_SECONDS = 0.002
_WALK_SECONDS = 0.6
_GIT_LOG_SECONDS = 2.0
_MAX_GIT_LOGS = 60
"""Beyond this number of entries git is not run, since each entry takes one process."""
_LARGE_TREE_BYTES = 64 * 1024
_MAX_TREES_READ = 64
_ENTRY = re.compile(rb"[0-7]+ [^\0]+\0.{20}", re.DOTALL)
_OID_BYTES = 20
_COMMIT_HEADER = re.compile(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)(?:[^\n]+\n)*?committer [^\n]* (-?\d+) [^ \n]*\n"
)

LastCommits = dict[bytes, str]
"""Commit ids by entry name."""
_folder_cache: BoundedCache[tuple[str, str, bytes], LastCommits] = declare_cache("folder-commits", share=4)
_NAME_BYTES = 220
"""Memory of an entry besides its name."""


def cached_last_commits(
    repository: Repository, commit: str, folder: bytes, names: Collection[bytes]
) -> LastCommits | None:
    """Return the cached last commits of all these entries of a folder, or None if one is not cached."""
    cached = _cached_entries(repository, commit, folder, names)
    return cached if len(cached) == len(names) else None


def _cached_entries(repository: Repository, commit: str, folder: bytes, names: Collection[bytes]) -> LastCommits:
    """Return the cached last commits of these entries, from a walk of this folder or of the whole tree."""
    by_name = _folder_cache.get((str(repository.path), commit, folder)) or {}
    by_path = cached_tree_commits(repository, commit) or {}
    cached = {name: by_name[name] for name in names if name in by_name} if by_name else {}
    if by_path:
        prefix = folder + b"/" if folder else b""
        missing = (name for name in names if not cached.get(name))
        cached |= {name: by_path[prefix + name] for name in missing if prefix + name in by_path}
    return cached


def last_commits(
    repository: Repository, commit: str, folder: bytes, names: Collection[bytes], *, seconds: float | None = None
) -> LastCommits | None:
    """Return the last commit of each entry, or ``NOT_FOUND_IN_TIME`` for entries that would take too long.

    With ``seconds``, return None if the walk takes longer than that.
    """
    cached = cached_last_commits(repository, commit, folder, names)
    if cached is not None:
        return cached
    walk = _HistoryWalk(repository, commit, folder, names)
    try:
        walk.go(_WALK_SECONDS if seconds is None else seconds)
        if walk.left and seconds is not None:
            return None
        record_slow_lookup(repository, commit, sum(map(len, walk.left.values())))
        walk.run_git_log(_GIT_LOG_SECONDS)
    except (KeyError, GitError) as error:  # An object is missing; the commits found so far are still right.
        log_failure("last commits not found", error)
    key = str(repository.path), commit, folder
    commits = {**(_folder_cache.get(key) or {}), **dict.fromkeys(names, NOT_FOUND_IN_TIME), **walk.found}
    return _folder_cache.put(key, commits, sum(map(len, commits)) + _NAME_BYTES * len(commits) + 400)


class _HistoryWalk:
    """State of a walk: the commit that each entry has reached."""

    def __init__(self, repository: Repository, commit: str, folder: bytes, names: Iterable[bytes]) -> None:
        self._repository = repository
        self._where = str(repository.path)
        self._odb: pygit2.Odb = open_repository(repository.path).odb
        self._folder = folder
        self._commits: dict[str, tuple[str, list[str], int]] = {}
        self._folders: dict[str, str | None] = {}
        self._trees: dict[str | None, set[bytes]] = {None: set()}
        self._next: list[tuple[int, str]] = []
        self.found: LastCommits = {}
        self.left: dict[str, set[bytes]] = {}
        self._wait_at(commit, set(names))

    def go(self, seconds: float) -> None:
        """Walk for this number of seconds."""
        began = monotonic()
        while self._next and (spent := monotonic() - began) < seconds:
            if spent > _INLINE_SECONDS:
                require_blocking_allowed()
            self._step(heapq.heappop(self._next)[1])

    def run_git_log(self, seconds: float) -> None:
        """Run ``git log`` for each remaining entry, since git has Bloom filters of changed paths."""
        if sum(map(len, self.left.values())) > _MAX_GIT_LOGS:
            return
        began = monotonic()
        for commit, names in self.left.items():
            for name in names:
                allowed = seconds - (monotonic() - began)
                if allowed <= 0:
                    return
                path = self._folder + b"/" + name if self._folder else name
                self.found[name] = log_last_commit(self._repository, commit, path, allowed + 1)

    def _wait_at(self, commit: str, names: set[bytes]) -> None:
        if commit in self.left:
            self.left[commit] |= names
        else:
            self.left[commit] = names
            heapq.heappush(self._next, (-self._read(commit)[2], commit))

    def _step(self, commit: str) -> None:
        """Settle each entry that waits at a commit, or move it to a parent that has it unchanged."""
        names = self.left[commit] - self._reuse_cached(commit)
        folder = self._folder_of(commit)
        for parent in self._read(commit)[1]:
            if not names:
                break
            parent_folder = self._folder_of(parent)
            unchanged = names if parent_folder == folder else names - self._changed(folder, parent_folder)
            if unchanged:
                self._wait_at(parent, set(unchanged))
                names = names - unchanged
        del self.left[commit]
        self.found |= dict.fromkeys(names, commit)

    def _reuse_cached(self, commit: str) -> set[bytes]:
        """Settle the entries whose last commit is cached for this commit."""
        cached = _cached_entries(self._repository, commit, self._folder, self.left[commit])
        known = {name: oid for name, oid in cached.items() if oid != NOT_FOUND_IN_TIME}
        self.found |= known
        return set(known)

    def _read(self, commit: str) -> tuple[str, list[str], int]:
        """Return the tree, the parents and the time of a commit."""
        header = self._commits.get(commit)
        if header is None:
            match = _COMMIT_HEADER.match(self._odb.read(commit)[1])
            if match is None:
                raise KeyError(commit)
            parents = [line[7:].decode() for line in match[2].splitlines()]
            header = self._commits[commit] = match[1].decode(), parents, int(match[3])
        return header

    def _folder_of(self, commit: str) -> str | None:
        """Return the tree of the folder at a commit, or None."""
        if commit not in self._folders:
            tree: str | None = self._read(commit)[0]
            for name in self._folder.split(b"/") if self._folder else ():
                tree = self._inner(tree, name)
            self._folders[commit] = tree
        return self._folders[commit]

    def _inner(self, tree: str | None, name: bytes) -> str | None:
        """Return the id of the folder of this name in a tree, or None."""
        prefix = b"40000 " + name + b"\0"
        entries = (entry for entry in self._entries(tree) if entry.startswith((prefix, b"0" + prefix)))
        return next((entry[-_OID_BYTES:].hex() for entry in entries), None)

    def _changed(self, tree: str | None, before: str | None) -> set[bytes]:
        """Return the names of entries that are new or different compared with the tree ``before``."""
        changed = self._entries(tree) - self._entries(before)
        return {entry[entry.index(b" ") + 1 : -_OID_BYTES - 1] for entry in changed}

    def _entries(self, tree: str | None) -> set[bytes]:
        """Return the raw entries of a tree."""
        entries = self._trees.get(tree)
        if entries is None:
            assert tree is not None  # noqa: S101 - The key None is always present.
            raw = self._odb.read(tree)[1]
            if len(raw) > _LARGE_TREE_BYTES:
                require_blocking_allowed()
            if len(self._trees) > _MAX_TREES_READ:
                self._trees = {None: set()}
            entries = self._trees[tree] = set(_ENTRY.findall(raw))
        return entries
