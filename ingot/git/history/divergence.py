"""Numbers of commits by which branches are ahead of and behind another one."""

from collections.abc import Collection
from time import monotonic
from typing import NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitTimeout
from ingot.git.core.repository import Repository

_SECONDS = 3.0
_DIVERGENCE_BYTES = 400


class Divergence(NamedTuple):
    """Number of commits that a branch lacks and adds, compared with a base."""

    behind: int
    ahead: int


_divergence_cache: BoundedCache[tuple[str, str, str], Divergence] = declare_cache("branch-divergence", share=1)


def cached_divergence(repository: Repository, base: str, tips: Collection[str]) -> dict[str, Divergence]:
    """Return the cached divergence of each tip from ``base``; tips that are not cached are left out."""
    repository_key = str(repository.path)
    cached = {
        tip: _divergence_cache.get((repository_key, base, tip)) if tip != base else Divergence(0, 0) for tip in tips
    }
    return {tip: divergence for tip, divergence in cached.items() if divergence is not None}


def count_divergence(repository: Repository, base: str, tips: Collection[str]) -> dict[str, Divergence]:
    """Return the divergence of each tip from ``base``; tips that are not reached within the time limit are left out."""
    divergences = cached_divergence(repository, base, tips)
    end = monotonic() + _SECONDS
    for tip in tips:
        remaining = end - monotonic()
        if tip in divergences or remaining <= 0:
            continue
        args = ["rev-list", "--left-right", "--count", f"{base}...{tip}", "--"]
        try:
            behind, ahead = run_git(args, repository.path, timeout=remaining).out.split()
        except GitTimeout:  # The remaining tips are left out, and shown without numbers.
            break
        key = str(repository.path), base, tip
        divergences[tip] = _divergence_cache.put(key, Divergence(int(behind), int(ahead)), _DIVERGENCE_BYTES)
    return divergences
