"""The last commit of each entry of a folder, in one walk for all of them; for one path alone see lastcommit.py.

Each entry goes back by itself, to the first parent that has the same, as ``git log -1`` does. Entries that have come
to the same commit go on together, the newest commit first, so that each is read once.
"""

import heapq
import re
from collections.abc import Collection, Iterable
from time import monotonic
from typing import TYPE_CHECKING

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.errors import GitError
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.path_log import log_last_commit
from ingot.git.history.tree_commits import cached_tree_commits, record_slow_lookup
from ingot.log import log_failure
from ingot.offload import require_blocking_allowed

if TYPE_CHECKING:
    import pygit2

NOT_FOUND_IN_TIME = ""
"""Stands for a commit that lies too far back."""
_INLINE_SECONDS = 0.002
_WALK_SECONDS = 0.6
_GIT_LOG_SECONDS = 2.0
_MAX_GIT_LOGS = 60
"""For more than so many entries git is not asked, since each takes a process."""
_LARGE_TREE_BYTES = 64 * 1024
_MAX_TREES_READ = 64
_ENTRY = re.compile(rb"[0-7]+ [^\0]+\0.{20}", re.DOTALL)
_OID_BYTES = 20
_COMMIT_HEADER = re.compile(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)(?:[^\n]+\n)*?committer [^\n]* (-?\d+) [^ \n]*\n"
)

LastCommits = dict[bytes, str]
"""Commits by the names of entries."""
_folder_cache: BoundedCache[tuple[str, str, bytes], LastCommits] = declare_cache("folder-commits", share=4)
_NAME_BYTES = 220
"""Memory of an entry of a folder besides the letters of its name."""


def cached_last_commits(
    repository: Repository, commit: str, folder: bytes, names: Collection[bytes]
) -> LastCommits | None:
    """What was found before of all these entries of a folder, if it was."""
    found = _cached_entries(repository, commit, folder, names)
    return found if len(found) == len(names) else None


def _cached_entries(repository: Repository, commit: str, folder: bytes, names: Collection[bytes]) -> LastCommits:
    """What is known of these entries, by a walk for this folder or by one for the whole tree."""
    here = _folder_cache.get((str(repository.path), commit, folder)) or {}
    whole = cached_tree_commits(repository, commit) or {}
    found = {name: here[name] for name in names if name in here} if here else {}
    if whole:
        above = folder + b"/" if folder else b""
        missing = (name for name in names if not found.get(name))
        found |= {name: whole[above + name] for name in missing if above + name in whole}
    return found


def last_commits(
    repository: Repository, commit: str, folder: bytes, names: Collection[bytes], *, seconds: float | None = None
) -> LastCommits | None:
    """Return the last commit of each entry, ``NOT_FOUND_IN_TIME`` for those that would take too long to find.

    With ``seconds`` it is nothing at all where it takes longer than that.
    """
    known = cached_last_commits(repository, commit, folder, names)
    if known is not None:
        return known
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
    found = {**(_folder_cache.get(key) or {}), **dict.fromkeys(names, NOT_FOUND_IN_TIME), **walk.found}
    return _folder_cache.put(key, found, sum(map(len, found)) + _NAME_BYTES * len(found) + 400)


class _HistoryWalk:
    """Where each entry has come to."""

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
        """Go back for so long."""
        began = monotonic()
        while self._next and (spent := monotonic() - began) < seconds:
            if spent > _INLINE_SECONDS:
                require_blocking_allowed()
            self._step(heapq.heappop(self._next)[1])

    def run_git_log(self, seconds: float) -> None:
        """Let git look for each of those that are left, since it has filters of changed paths."""
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
        """Let each entry that waits at a commit stay there for good, or go on."""
        names = self.left[commit] - self._reuse_cached(commit)
        own = self._folder_of(commit)
        for parent in self._read(commit)[1]:
            if not names:
                break
            before = self._folder_of(parent)
            same = names if before == own else names - self._changed(own, before)
            if same:
                self._wait_at(parent, set(same))
                names = names - same
        del self.left[commit]
        self.found |= dict.fromkeys(names, commit)

    def _reuse_cached(self, commit: str) -> set[bytes]:
        """Entries that somebody asked for before, at a commit on the way."""
        known = _cached_entries(self._repository, commit, self._folder, self.left[commit])
        taken = {name: oid for name, oid in known.items() if oid != NOT_FOUND_IN_TIME}
        self.found |= taken
        return set(taken)

    def _read(self, commit: str) -> tuple[str, list[str], int]:
        """The tree, the parents and the time of a commit."""
        known = self._commits.get(commit)
        if known is None:
            read = _COMMIT_HEADER.match(self._odb.read(commit)[1])
            if read is None:
                raise KeyError(commit)
            parents = [line[7:].decode() for line in read[2].splitlines()]
            known = self._commits[commit] = read[1].decode(), parents, int(read[3])
        return known

    def _folder_of(self, commit: str) -> str | None:
        """The tree of the folder that a commit has, if it has one."""
        if commit not in self._folders:
            tree: str | None = self._read(commit)[0]
            for name in self._folder.split(b"/") if self._folder else ():
                tree = self._inner(tree, name)
            self._folders[commit] = tree
        return self._folders[commit]

    def _inner(self, tree: str | None, name: bytes) -> str | None:
        """The folder of this name in a tree."""
        wanted = b"40000 " + name + b"\0"
        found = (entry for entry in self._entries(tree) if entry.startswith((wanted, b"0" + wanted)))
        return next((entry[-_OID_BYTES:].hex() for entry in found), None)

    def _changed(self, tree: str | None, before: str | None) -> set[bytes]:
        """The names of entries that a tree before it has not, or has differently."""
        changed = self._entries(tree) - self._entries(before)
        return {entry[entry.index(b" ") + 1 : -_OID_BYTES - 1] for entry in changed}

    def _entries(self, tree: str | None) -> set[bytes]:
        """What a tree holds, each entry as git writes it."""
        known = self._trees.get(tree)
        if known is None:
            assert tree is not None  # noqa: S101 - No tree has no entries, which is known from the start.
            raw = self._odb.read(tree)[1]
            if len(raw) > _LARGE_TREE_BYTES:
                require_blocking_allowed()
            if len(self._trees) > _MAX_TREES_READ:
                self._trees = {None: set()}
            known = self._trees[tree] = set(_ENTRY.findall(raw))
        return known
