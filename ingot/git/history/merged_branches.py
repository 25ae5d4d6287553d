"""Which branches are merged into another one, for many at once."""

from collections.abc import Sequence

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef

_MAX_ARGUMENTS = 500
"""More than these are not named one by one on git's command line: all branches are asked for instead."""
_merged_cache: BoundedCache[tuple[str, str], bool] = declare_cache("merged-branches", share=1)
_MERGED_BYTES = 180


def merged_branches(repository: Repository, branches: Sequence[NamedRef], target: str) -> set[str]:
    """The tips of those branches that ``target`` contains; one walk answers for all, and what it found is kept.

    Whether one commit contains another never changes, so it is kept by their ids alone.
    """
    known = _merged_cache.get_many((branch.oid, target) for branch in branches if branch.oid != target)
    merged = {target, *(oid for (oid, _), contained in known.items() if contained)}
    unknown = [branch for branch in branches if branch.oid != target and (branch.oid, target) not in known]
    if unknown:
        merged |= _read_merged(repository, unknown, target)
    return merged


def _read_merged(repository: Repository, branches: list[NamedRef], target: str) -> set[str]:
    named = [HEADS + branch.name for branch in branches] if len(branches) <= _MAX_ARGUMENTS else [HEADS]
    args = ["for-each-ref", f"--merged={target}", "--format=%(objectname)"]
    listed = run_git(args, repository.path, operands=[name.decode(errors="surrogateescape") for name in named])
    merged = set(listed.out.decode().split())
    for branch in branches:
        _merged_cache.put((branch.oid, target), branch.oid in merged, _MERGED_BYTES)
    return merged
