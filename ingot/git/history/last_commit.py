"""The last commit that touched a path, as ``git log -1`` tells it."""

from time import monotonic
from typing import Any

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.path_log import log_last_commit
from ingot.git.history.tree_commits import cached_last_commit, read_entry, record_slow_lookup
from ingot.offload import require_blocking_allowed

_INLINE_COMMITS = 32
_INLINE_SECONDS = 0.002
_TIMEOUT_SECONDS = 30.0

# By repository too: the ids would do, but a commit that one of them has lost must not be told by another.
_path_cache: BoundedCache[tuple[str, str, bytes], str] = declare_cache("path-commits", share=4)


def last_commit_id(repository: Repository, commit: str, path: bytes) -> str:
    """The last commit, of those that lead to this one, that changed what it has at a path; itself for no path."""
    if not path:
        return commit
    where = str(repository.path)
    known = _path_cache.get((where, commit, path)) or cached_last_commit(repository, commit, path)
    if known is not None:
        return known
    oid, found = _search_inline(repository, commit, path)
    if not found:
        oid = log_last_commit(repository, oid, path, _TIMEOUT_SECONDS)
        record_slow_lookup(repository, commit)
    return _path_cache.put((where, commit, path), oid, len(path) + 330)


def _search_inline(repository: Repository, commit: str, path: bytes) -> tuple[str, bool]:
    """Go back some commits in process: most pages show what changed of late, or what was asked before a push.

    Gives the last commit, or the one from which on somebody has to look further.
    """
    began = monotonic()
    where = str(repository.path)
    handle = open_repository(repository.path)
    named = path.decode("utf-8", "surrogateescape")
    at: Any = handle[commit]
    entry = read_entry(at, named)
    for _ in range(_INLINE_COMMITS):
        followed = None
        for parent in at.parent_ids:
            before: Any = handle[parent]
            if read_entry(before, named) == entry:
                followed = before
                break
        if followed is None:
            return str(at.id), True
        at = followed
        known = _path_cache.get((where, str(at.id), path)) or cached_last_commit(repository, str(at.id), path)
        if known is not None:
            return known, True
        if monotonic() - began > _INLINE_SECONDS:
            require_blocking_allowed()
            break
    return str(at.id), False
