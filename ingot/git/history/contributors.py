"""Contributors of a history with their commit counts."""

import msgspec

from ingot.core.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import decode_text
from ingot.git.history.log import BUFFERED_OUTPUT

_MAX_COMMITS = 100_000
_CONTRIBUTOR_BYTES = 250


class Contributor(msgspec.Struct, frozen=True):
    """An author by email address, with the name of the newest commit."""

    name: str
    email: str
    commits: int


_contributor_cache: BoundedCache[tuple[str, str], tuple[Contributor, ...]] = declare_cache("contributors", share=1)


def read_contributors(repository: Repository, tip: str) -> tuple[Contributor, ...]:
    """List the authors of the newest commits of a history without merges, the most recent author first."""
    key = str(repository.path), tip
    contributors = _contributor_cache.get(key)
    if contributors is None:
        contributors = _read_contributors(repository, tip)
        contributors = _contributor_cache.put(key, contributors, 200 + _CONTRIBUTOR_BYTES * len(contributors))
    return contributors


def _read_contributors(repository: Repository, tip: str) -> tuple[Contributor, ...]:
    args = ["log", "-z", "--no-merges", f"--max-count={_MAX_COMMITS}", "--format=%ae%n%an", tip, "--"]
    names: dict[bytes, bytes] = {}
    counts: dict[bytes, int] = {}
    for entry in run_git(args, repository.path, env=BUFFERED_OUTPUT).out.split(b"\0"):
        email, newline, name = entry.partition(b"\n")
        if newline:
            names.setdefault(email, name)
            counts[email] = counts.get(email, 0) + 1
    return tuple(Contributor(decode_text(name), decode_text(email), counts[email]) for email, name in names.items())
