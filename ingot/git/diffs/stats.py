"""How many lines commits add and delete, each against its first parent."""

import re
from collections.abc import Sequence

import msgspec

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit

MAX_TEXT_BYTES = ("core.bigFileThreshold", "32m")
"""Larger files count as binary ones: to compare them line by line would take a multiple of them in memory."""
_OID = re.compile(rb"[0-9a-f]{40}")


class CommitStats(msgspec.Struct, frozen=True):
    """Lines of text; binary files have none."""

    additions: int = 0
    deletions: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.additions + self.deletions


_stats_cache: BoundedCache[tuple[str, str], CommitStats] = declare_cache("commit-stats", share=3)
_STATS_BYTES = 250


def commit_stats(repository: Repository, commits: Sequence[Commit]) -> list[CommitStats]:
    """The numbers of each commit, in their order; one process computes all that are not known yet."""
    where = str(repository.path)
    known = {commit.oid: _stats_cache.get((where, commit.oid)) for commit in commits}
    unknown = [commit for commit in commits if known[commit.oid] is None]
    if unknown:
        found = _compute(repository, unknown)
        for commit in unknown:
            key = where, commit.oid
            known[commit.oid] = _stats_cache.put(key, found.get(commit.oid, CommitStats()), _STATS_BYTES)
    return [known[commit.oid] or CommitStats() for commit in commits]


def _compute(repository: Repository, commits: Sequence[Commit]) -> dict[str, CommitStats]:
    # With one parent named behind it, git compares a merge with that one alone.
    lines = [" ".join([commit.oid, *commit.parents[:1]]) for commit in commits]
    args = ["diff-tree", "--stdin", "--root", "-r", "-M", "--numstat", "-z", "--no-ext-diff", "--no-textconv"]
    counted = run_git(args, repository.path, "\n".join([*lines, ""]).encode(), config=[MAX_TEXT_BYTES])
    return _sum_numstat(counted.out)


def _sum_numstat(listed: bytes) -> dict[str, CommitStats]:
    sums: dict[str, CommitStats] = {}
    oid = ""
    parts = iter(listed.split(b"\0"))
    for part in parts:
        if _OID.fullmatch(part):
            oid = part.decode()
            sums[oid] = CommitStats()
            continue
        added, _, rest = part.partition(b"\t")
        deleted, tab, path = rest.partition(b"\t")
        if tab and not path:  # A rename: its two paths follow by themselves.
            next(parts)
            next(parts)
        if deleted.isdigit():
            so_far = sums[oid]
            sums[oid] = CommitStats(so_far.additions + int(added), so_far.deletions + int(deleted))
    return sums
