"""Numbers of added and deleted lines of commits, each compared with its first parent."""

import re
from collections.abc import Sequence
from functools import partial

import msgspec

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.log import log_failure
from ingot.git.core.command import MAX_OUTPUT_BYTES, run_git
from ingot.git.core.errors import GitLimitReached, GitOutputTooLarge
from ingot.git.core.repository import Repository
from ingot.git.diffs.small_changes import small_change_stats
from ingot.git.diffs.tree_changes import has_too_many_changes
from ingot.git.history.commits import Commit

MAX_TEXT_BYTES = ("core.bigFileThreshold", "32m")
"""Larger files are treated as binary: comparing them by line would take a multiple of their size in memory."""
_SECONDS = 20.0
_MAX_MEMORY = 2**30
_OID = re.compile(rb"[0-9a-f]{40}")


class CommitStats(msgspec.Struct, frozen=True):
    """Line counts of text files; binary files have none."""

    additions: int = 0
    deletions: int = 0

    @property
    def total(self) -> int:
        """Return the sum of additions and deletions."""
        return self.additions + self.deletions


_stats_cache: BoundedCache[tuple[str, str], CommitStats] = declare_cache("commit-stats", share=2.5)
_STATS_BYTES = 250


def commit_stats(repository: Repository, commits: Sequence[Commit]) -> list[CommitStats]:
    """Return the line counts of each commit in order; one process computes all that are not cached.

    The counts of a commit that changes more files than git may compare are zero.
    """
    repository_key = str(repository.path)
    stats = {commit.oid: _stats_cache.get((repository_key, commit.oid)) for commit in commits}
    uncached = [commit for commit in commits if stats[commit.oid] is None]
    if uncached:
        for oid, computed in _compute(repository, uncached).items():
            stats[oid] = _stats_cache.put((repository_key, oid), computed, _STATS_BYTES)
    return [stats[commit.oid] or CommitStats() for commit in commits]


def _compute(repository: Repository, commits: Sequence[Commit]) -> dict[str, CommitStats]:
    """Return the stats of all commits, or of the first ones as far as git gets within its limits."""
    stats: dict[str, CommitStats] = {}
    # With one parent given, git compares a merge with that parent only.
    lines: dict[str, str] = {}
    for commit in commits:
        parent = commit.parents[0] if commit.parents else None
        if len(commits) == 1 and (small := small_change_stats(repository, parent, commit.oid)) is not None:
            stats[commit.oid] = CommitStats(*small)
        elif has_too_many_changes(repository, parent, commit.oid):
            stats[commit.oid] = CommitStats()
        else:
            lines[commit.oid] = " ".join([commit.oid, *commit.parents[:1]])
    if not lines:
        return stats
    args = ["diff-tree", "--stdin", "--root", "-r", "-M", "--numstat", "-z", "--no-ext-diff", "--no-textconv"]
    output = bytearray()
    try:
        run_git(
            args,
            repository.path,
            "\n".join([*lines.values(), ""]).encode(),
            timeout=_SECONDS,
            config=[MAX_TEXT_BYTES],
            max_memory=_MAX_MEMORY,
            on_stdout=partial(_collect, output),
        )
    except GitLimitReached as error:
        log_failure("commit stats not complete", error)
        complete = list(_sum_numstat(bytes(output[: output.rfind(b"\0") + 1])).items())[:-1]
        # The others are computed when they are requested again, unless the first one alone exceeds the limits.
        return stats | (dict(complete) or {next(iter(lines)): CommitStats()})
    # A commit without changes is not in the output.
    return stats | dict.fromkeys(lines, CommitStats()) | _sum_numstat(bytes(output))


def _collect(output: bytearray, piece: bytes) -> None:
    output += piece
    if len(output) > MAX_OUTPUT_BYTES:
        raise GitOutputTooLarge("diff-tree", 0, "")


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
