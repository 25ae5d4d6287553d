"""Cache of the branches that are merged into a target, computed for many branches at once."""

from collections.abc import Sequence
from functools import partial

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import outside_transaction
from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef

_MAX_ARGUMENTS = 500
"""Beyond this number the branches are not named on git's command line; all branches are listed instead."""
_merged_cache: BoundedCache[tuple[str, str], bool] = declare_cache("merged-branches", share=1)
_MERGED_BYTES = 180


def merged_branches(repository: Repository, branches: Sequence[NamedRef], target: str) -> set[str]:
    """Return the tips of the branches that ``target`` contains; one process determines all that are not cached.

    Whether one commit contains another never changes, so the cache key is the pair of ids.
    """
    cached = _merged_cache.get_many((branch.oid, target) for branch in branches if branch.oid != target)
    merged = {target, *(oid for (oid, _), contained in cached.items() if contained)}
    uncached = [branch for branch in branches if branch.oid != target and (branch.oid, target) not in cached]
    if uncached:
        read = partial(_read_merged, repository, uncached, target)
        merged |= outside_transaction((_read_merged, *((branch.oid, target) for branch in uncached)), read)
    return merged


def _read_merged(repository: Repository, branches: list[NamedRef], target: str) -> set[str]:
    patterns = [HEADS + branch.name for branch in branches] if len(branches) <= _MAX_ARGUMENTS else [HEADS]
    args = ["for-each-ref", f"--merged={target}", "--format=%(objectname)"]
    listed = run_git(args, repository.path, operands=[name.decode(errors="surrogateescape") for name in patterns])
    merged = set(listed.out.decode().split())
    for branch in branches:
        _merged_cache.put((branch.oid, target), branch.oid in merged, _MERGED_BYTES)
    return merged
