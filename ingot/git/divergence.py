"""How far lines of history are apart."""

from collections.abc import Collection
from time import monotonic
from typing import NamedTuple

from ingot.git.command import run_git
from ingot.git.faults import GitTimedOut
from ingot.git.keeping import Keeper
from ingot.git.repository import Repository

_SECONDS = 3.0
_KEPT_BYTES = 2 * 2**20
_KEY_BYTES = 300


class Apart(NamedTuple):
    """How many commits one has that the other has not."""

    behind: int
    ahead: int


_kept: Keeper[Apart] = Keeper(_KEPT_BYTES)


def known_apart(repository: Repository, base: str, tips: Collection[str]) -> dict[str, Apart]:
    """How far commits are from another one, of those for which it is known."""
    where = str(repository.path)
    found = {tip: _kept.get((where, base, tip)) if tip != base else Apart(0, 0) for tip in tips}
    return {tip: apart for tip, apart in found.items() if apart is not None}


def count_apart(repository: Repository, base: str, tips: Collection[str]) -> dict[str, Apart]:
    """The same of all of them; what would take very long is left out."""
    found = known_apart(repository, base, tips)
    end = monotonic() + _SECONDS
    for tip in tips:
        left = end - monotonic()
        if tip in found or left <= 0:
            continue
        args = ["rev-list", "--left-right", "--count", f"{base}...{tip}", "--"]
        try:
            behind, ahead = run_git(args, repository.path, timeout=left).out.split()
        except GitTimedOut:
            break
        found[tip] = _kept.keep((str(repository.path), base, tip), Apart(int(behind), int(ahead)), _KEY_BYTES)
    return found
