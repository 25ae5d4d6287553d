"""Numbers of added and deleted lines of commits, each compared with its first parent."""

import re
from collections.abc import Sequence

import msgspec

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit

MAX_TEXT_BYTES = ("core.bigFileThreshold", "32m")
"""Larger files are treated as binary: comparing them by line would take a multiple of their size in memory."""
_OID = re.compile(rb"[0-9a-f]{40}")


class CommitStats(msgspec.Struct, frozen=True):
    """Line counts of text files; binary files have none."""

    additions: int = 0
    deletions: int = 0

    @property
    def total(self) -> int:
        """Return the sum of additions and deletions."""
        return self.additions + self.deletions


_stats_cache: BoundedCache[tuple[str, str], CommitStats] = declare_cache("commit-stats", share=3)
_STATS_BYTES = 250


def commit_stats(repository: Repository, commits: Sequence[Commit]) -> list[CommitStats]:
    """Return the line counts of each commit in order; one process computes all that are not cached."""
    repository_key = str(repository.path)
    stats = {commit.oid: _stats_cache.get((repository_key, commit.oid)) for commit in commits}
    uncached = [commit for commit in commits if stats[commit.oid] is None]
    if uncached:
        computed = _compute(repository, uncached)
        for commit in uncached:
            key = repository_key, commit.oid
            stats[commit.oid] = _stats_cache.put(key, computed.get(commit.oid, CommitStats()), _STATS_BYTES)
    return [stats[commit.oid] or CommitStats() for commit in commits]


def _compute(repository: Repository, commits: Sequence[Commit]) -> dict[str, CommitStats]:
    # With one parent given, git compares a merge with that parent only.
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
        if tab and not path:  # A rename: its two paths follow as separate fields.
            next(parts)
            next(parts)
        if deleted.isdigit():
            previous = sums[oid]
            sums[oid] = CommitStats(previous.additions + int(added), previous.deletions + int(deleted))
    return sums
