"""Last commit that changed a path, as ``git log -1`` determines it."""

from time import monotonic
from typing import Any

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.path_log import log_last_commit
from ingot.git.history.tree_commits import cached_last_commit, read_entry, record_slow_lookup

_INLINE_COMMITS = 32
_INLINE_SECONDS = 0.002
_TIMEOUT_SECONDS = 30.0

# Keyed by repository too: a commit that one repository has lost must not be served from the cache of another.
_path_cache: BoundedCache[tuple[str, str, bytes], str] = declare_cache("path-commits", share=4)


def last_commit_id(repository: Repository, commit: str, path: bytes) -> str:
    """Return the last ancestor of a commit that changed a path; the commit itself for an empty path."""
    if not path:
        return commit
    repository_key = str(repository.path)
    cached = _path_cache.get((repository_key, commit, path)) or cached_last_commit(repository, commit, path)
    if cached is not None:
        return cached
    oid, found = _search_inline(repository, commit, path)
    if not found:
        oid = log_last_commit(repository, oid, path, _TIMEOUT_SECONDS)
        record_slow_lookup(repository, commit)
    return _path_cache.put((repository_key, commit, path), oid, len(path) + 330)


def _search_inline(repository: Repository, commit: str, path: bytes) -> tuple[str, bool]:
    """Walk back some commits in process, which is enough for recent changes and for paths cached before a push.

    Return the last commit and True, or the commit at which the search must continue and False.
    """
    began = monotonic()
    repository_key = str(repository.path)
    handle = open_repository(repository.path)
    name = path.decode("utf-8", "surrogateescape")
    current: Any = handle[commit]
    entry = read_entry(current, name)
    for _ in range(_INLINE_COMMITS):
        unchanged = None
        for parent in current.parent_ids:
            candidate: Any = handle[parent]
            if read_entry(candidate, name) == entry:
                unchanged = candidate
                break
        if unchanged is None:
            return str(current.id), True
        current = unchanged
        cached = _path_cache.get((repository_key, str(current.id), path)) or cached_last_commit(
            repository, str(current.id), path
        )
        if cached is not None:
            return cached, True
        if monotonic() - began > _INLINE_SECONDS:
            require_blocking_allowed()
            break
    return str(current.id), False
