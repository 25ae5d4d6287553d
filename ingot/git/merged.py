"""Which branches are merged into another one, for many at once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from ingot.git.command import run_git
from ingot.git.refs import HEADS
from ingot.git.repository import Repository
from ingot.git.sorted_refs import NamedRef

_MOST_KEPT = 50_000
_MOST_NAMED = 500
"""More than these are not named one by one on git's command line: all branches are asked for instead."""
_kept: OrderedDict[tuple[str, str], bool] = OrderedDict()
_lock = threading.Lock()


def merged_into(repository: Repository, branches: Sequence[NamedRef], target: str) -> set[str]:
    """The tips of those branches that ``target`` contains; one walk answers for all, and what it found is kept.

    Whether one commit contains another never changes, so it is kept by their ids alone.
    """
    merged, unknown = {target}, []
    for branch in branches:
        known = branch.oid == target or _kept.get((branch.oid, target))
        if known is None:
            unknown.append(branch)
        elif known:
            merged.add(branch.oid)
    if unknown:
        merged |= _ask(repository, unknown, target)
    return merged


def _ask(repository: Repository, branches: list[NamedRef], target: str) -> set[str]:
    named = [HEADS + branch.name for branch in branches] if len(branches) <= _MOST_NAMED else [HEADS]
    args = ["for-each-ref", f"--merged={target}", "--format=%(objectname)"]
    listed = run_git(args, repository.path, operands=[name.decode(errors="surrogateescape") for name in named])
    merged = set(listed.out.decode().split())
    with _lock:
        for branch in branches:
            _kept[branch.oid, target] = branch.oid in merged
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return merged
