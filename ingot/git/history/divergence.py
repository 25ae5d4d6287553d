"""How far lines of history are apart."""

from collections.abc import Collection
from time import monotonic
from typing import NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitTimeout
from ingot.git.core.repository import Repository

_SECONDS = 3.0
_APART_BYTES = 400


class Divergence(NamedTuple):
    """How many commits one has that the other has not."""

    behind: int
    ahead: int


_divergence_cache: BoundedCache[tuple[str, str, str], Divergence] = declare_cache("branch-divergence", share=1)


def cached_divergence(repository: Repository, base: str, tips: Collection[str]) -> dict[str, Divergence]:
    """How far commits are from another one, of those for which it is known."""
    where = str(repository.path)
    found = {tip: _divergence_cache.get((where, base, tip)) if tip != base else Divergence(0, 0) for tip in tips}
    return {tip: apart for tip, apart in found.items() if apart is not None}


def count_divergence(repository: Repository, base: str, tips: Collection[str]) -> dict[str, Divergence]:
    """The same of all of them; what would take very long is left out."""
    found = cached_divergence(repository, base, tips)
    end = monotonic() + _SECONDS
    for tip in tips:
        left = end - monotonic()
        if tip in found or left <= 0:
            continue
        args = ["rev-list", "--left-right", "--count", f"{base}...{tip}", "--"]
        try:
            behind, ahead = run_git(args, repository.path, timeout=left).out.split()
        except GitTimeout:  # What takes too long is left out, and shown so.
            break
        key = str(repository.path), base, tip
        found[tip] = _divergence_cache.put(key, Divergence(int(behind), int(ahead)), _APART_BYTES)
    return found
