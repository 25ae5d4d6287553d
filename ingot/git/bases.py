"""Where lines of history have parted."""

from collections.abc import Sequence

from ingot.git.command import run_git
from ingot.git.faults import GitFailed
from ingot.git.keeping import Keeper
from ingot.git.repository import Repository

_KEPT_BYTES = 2 * 2**20
_NONE = 1
_kept: Keeper[str] = Keeper(_KEPT_BYTES)


def merge_base(repository: Repository, oids: Sequence[str]) -> str | None:
    """The best common ancestor of the first commit and a merge of all others; nothing where they share none."""
    key = str(repository.path), *oids
    known = _kept.get(key)
    if known is None:
        outcome = run_git(["merge-base", *oids], repository.path, check=False)
        if outcome.status not in (0, _NONE):
            raise GitFailed("merge-base", outcome.status, outcome.said)
        known = _kept.keep(key, outcome.out.decode().strip(), 60 * len(oids))
    return known or None
