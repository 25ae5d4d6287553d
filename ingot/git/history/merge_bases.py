"""Merge bases of commits."""

from collections.abc import Sequence

from ingot.core.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository

_NO_MERGE_BASE = 1
_base_cache: BoundedCache[tuple[str, ...], str] = declare_cache("merge-bases", share=1)


def merge_base_or_none(repository: Repository, oids: Sequence[str]) -> str | None:
    """Return the best common ancestor of the first commit and a merge of all others, or None if there is none."""
    key = str(repository.path), *oids
    base = _base_cache.get(key)
    if base is None:
        result = run_git(["merge-base", *oids], repository.path, check=False)
        if result.status not in (0, _NO_MERGE_BASE):
            raise GitError("merge-base", result.status, result.stderr)
        base = _base_cache.put(key, result.out.decode().strip(), 150 + 100 * len(oids))
    return base or None
