"""Where lines of history have parted."""

from collections.abc import Sequence

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository

_NO_MERGE_BASE = 1
_base_cache: BoundedCache[tuple[str, ...], str] = declare_cache("merge-bases", share=1)


def merge_base_or_none(repository: Repository, oids: Sequence[str]) -> str | None:
    """The best common ancestor of the first commit and a merge of all others; nothing where they share none."""
    key = str(repository.path), *oids
    known = _base_cache.get(key)
    if known is None:
        outcome = run_git(["merge-base", *oids], repository.path, check=False)
        if outcome.status not in (0, _NO_MERGE_BASE):
            raise GitError("merge-base", outcome.status, outcome.said)
        known = _base_cache.put(key, outcome.out.decode().strip(), 150 + 100 * len(oids))
    return known or None
