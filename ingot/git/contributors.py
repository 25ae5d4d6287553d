"""Who wrote a history."""

import msgspec

from ingot.git.command import run_git
from ingot.git.commits import decoded
from ingot.git.history import BUFFERED
from ingot.git.keeping import Keeper
from ingot.git.repository import Repository

_MOST_COMMITS = 100_000
_KEPT_BYTES = 4 * 2**20
_ENTRY_BYTES = 250


class Contributor(msgspec.Struct, frozen=True):
    """An author by their address; the name is that of their newest commit."""

    name: str
    email: str
    commits: int


_kept: Keeper[tuple[Contributor, ...]] = Keeper(_KEPT_BYTES)


def contributors_of(repository: Repository, tip: str) -> tuple[Contributor, ...]:
    """Who wrote the newest commits that a commit leads to, merges left out; whoever wrote last comes first."""
    key = str(repository.path), tip
    known = _kept.get(key)
    if known is None:
        found = _read(repository, tip)
        known = _kept.keep(key, found, _ENTRY_BYTES * len(found))
    return known


def _read(repository: Repository, tip: str) -> tuple[Contributor, ...]:
    args = ["log", "-z", "--no-merges", f"--max-count={_MOST_COMMITS}", "--format=%ae%n%an", tip, "--"]
    names: dict[bytes, bytes] = {}
    counts: dict[bytes, int] = {}
    for entry in run_git(args, repository.path, env=BUFFERED).out.split(b"\0"):
        email, newline, name = entry.partition(b"\n")
        if newline:
            names.setdefault(email, name)
            counts[email] = counts.get(email, 0) + 1
    return tuple(Contributor(decoded(name), decoded(email), counts[email]) for email, name in names.items())
