"""Which branches are merged into another one, for many at once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import NamedRef

_MAX_CACHED = 50_000
_MAX_ARGUMENTS = 500
"""More than these are not named one by one on git's command line: all branches are asked for instead."""
_merged_cache: OrderedDict[tuple[str, str], bool] = OrderedDict()
_lock = threading.Lock()


def merged_branches(repository: Repository, branches: Sequence[NamedRef], target: str) -> set[str]:
    """The tips of those branches that ``target`` contains; one walk answers for all, and what it found is kept.

    Whether one commit contains another never changes, so it is kept by their ids alone.
    """
    merged, unknown = {target}, []
    for branch in branches:
        known = branch.oid == target or _merged_cache.get((branch.oid, target))
        if known is None:
            unknown.append(branch)
        elif known:
            merged.add(branch.oid)
    if unknown:
        merged |= _read_merged(repository, unknown, target)
    return merged


def _read_merged(repository: Repository, branches: list[NamedRef], target: str) -> set[str]:
    named = [HEADS + branch.name for branch in branches] if len(branches) <= _MAX_ARGUMENTS else [HEADS]
    args = ["for-each-ref", f"--merged={target}", "--format=%(objectname)"]
    listed = run_git(args, repository.path, operands=[name.decode(errors="surrogateescape") for name in named])
    merged = set(listed.out.decode().split())
    with _lock:
        for branch in branches:
            _merged_cache[branch.oid, target] = branch.oid in merged
        while len(_merged_cache) > _MAX_CACHED:
            _merged_cache.popitem(last=False)
    return merged
