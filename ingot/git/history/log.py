"""Lists of commits, in the order of ``git log``."""

import hashlib
import os
from collections.abc import Sequence

import msgspec

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import refs_fingerprint
from ingot.offload import require_blocking_allowed

BUFFERED_OUTPUT = {"GIT_FLUSH": "0"}
"""Without this git writes each line by itself into a pipe, which takes longer than to find the commits."""
CASE_FOLDING = {"LC_ALL": "C.UTF-8"}
"""With this git knows the case of other letters than ASCII's too."""
_SECONDS = 60.0
_SEARCH_SECONDS = 10.0
_OID_BYTES = 20
_FIRST_WALK_LENGTH = 4096
_MAX_WALK_LENGTH = 262_144
"""Commits of one list that are kept; pages further down walk again."""
_NAME_BYTES = 48
"""What a name takes besides its letters."""
_MAX_PART_LENGTH = 64 * 1024
"""What the operating system takes as one argument is twice this."""


class CommitFilter(msgspec.Struct, frozen=True):
    """Which commits a list has; times in seconds, and both of them inclusive."""

    path: str | None = None
    follow: bool = False
    """Whether the list goes on below the name that a file had before it was renamed."""
    since: int | None = None
    until: int | None = None
    author: str | None = None
    message: str | None = None
    """What the message says somewhere, whatever the case."""
    first_parent: bool = False
    topological: bool = False
    """Whether no commit comes before all of its children, and lines of history are not mixed."""

    @property
    def is_selective(self) -> bool:
        """Whether it leaves out commits that git would have to look at one by one."""
        return any(part is not None for part in (self.path, self.since, self.until, self.author, self.message))


ALL_COMMITS = CommitFilter()


class _CachedWalk(msgspec.Struct, frozen=True):
    """How far down a list is known."""

    oids: bytes = b""
    """Packed, 20 bytes each."""
    complete: bool = False
    total: int | None = None

    @property
    def length(self) -> int:
        return len(self.oids) // _OID_BYTES

    def covers(self, offset: int, end: int) -> bool:
        """Whether this part of the list is known, be it that there is nothing."""
        return self.complete or self.length >= end or (self.total is not None and offset >= self.total)

    def part(self, offset: int, end: int) -> list[str]:
        return _unpack_oids(self.oids[offset * _OID_BYTES : end * _OID_BYTES])


_list_cache: BoundedCache[tuple[str, str, CommitFilter], _CachedWalk] = declare_cache("commit-lists", share=6)
_Containing = tuple[tuple[object, ...], list[bytes]]
_containing_cache: BoundedCache[tuple[str, bytes, str], _Containing] = declare_cache("refs-containing", share=1)


def list_commits(
    repository: Repository, tips: Sequence[str], wanted: CommitFilter, offset: int, size: int
) -> tuple[list[str], int]:
    """The ids of one page of the commits that the tips lead to, and how many there are in all.

    What was walked is kept by the ids of the tips: whoever reads page after page makes git walk the list twice at
    most, and what is known starts no process.
    """
    path = _clean_path(wanted.path)
    if not tips or path is None or (wanted.until is not None and wanted.until < 0):
        return [], 0
    since = wanted.since if wanted.since is not None and wanted.since > 0 else None
    wanted = msgspec.structs.replace(wanted, path=path or None, since=since)
    key = str(repository.path), _digest(tips), wanted
    known = _list_cache.get(key) or _CachedWalk()
    end = offset + size
    walk = known
    if known.total is None or not known.covers(offset, end):
        walk = _extend_walk(repository, tips, wanted, known, offset, end)
        words = f"{wanted.path}{wanted.author}{wanted.message}"
        _list_cache.put(key, walk, len(walk.oids) + 4 * len(words) + 500)
    if walk.covers(offset, end):
        page = walk.part(offset, end)
    else:
        page = _unpack_oids(_read_page(repository, tips, wanted, offset, size))
    return page, walk.total or 0


def count_commits(repository: Repository, tip: str, *, first_parent: bool = False) -> int:
    """How many commits a commit leads to, itself included."""
    return list_commits(repository, [tip], CommitFilter(first_parent=first_parent), 0, 0)[1]


def all_tips(repository: Repository) -> list[str]:
    """What all branches and tags point at, in their order."""
    require_blocking_allowed()
    return list(dict.fromkeys(read_refs(repository.path, (HEADS, TAGS)).values()))


def commits_between(repository: Repository, old: str | None, new: str, limit: int) -> list[str]:
    """The newest commits that ``new`` leads to and ``old`` does not, if there is one, oldest first."""
    # Asked for in git's usual order and then turned round: with ``--reverse`` it would give the oldest ones.
    without = [] if old is None else [f"^{old}"]
    args = ["rev-list", f"--max-count={limit}", "--end-of-options", new, *without, "--"]
    return run_git(args, repository.path).out.decode().split()[::-1]


def count_between(repository: Repository, old: str, new: str) -> int:
    """How many commits ``new`` leads to and ``old`` does not."""
    return int(run_git(["rev-list", "--count", "--end-of-options", new, f"^{old}", "--"], repository.path).out)


def refs_containing(repository: Repository, oid: str, folder: bytes, generation: int) -> list[bytes]:
    """The full names of the branches or tags that lead to a commit, sorted; nobody may change the list.

    ``generation`` counts the changes of references; it takes git a second where there are thousands of them.
    """
    key = str(repository.path), folder, oid
    state = refs_fingerprint(repository, folder, generation)
    known = _containing_cache.get(key)
    if known is not None and known[0] == state:
        return known[1]
    args = ["for-each-ref", f"--contains={oid}", "--format=%(refname)"]
    names = sorted(run_git(args, repository.path, operands=[folder.decode()]).out.splitlines())
    _containing_cache.put(key, (state, names), sum(map(len, names)) + _NAME_BYTES * len(names) + 600)
    return names


def _unpack_oids(oids: bytes) -> list[str]:
    return oids.hex(" ", _OID_BYTES).split()


def _digest(tips: Sequence[str]) -> str:
    return tips[0] if len(tips) == 1 else hashlib.sha256(" ".join(tips).encode()).hexdigest()


def _clean_path(path: str | None) -> str | None:
    """The path as git writes paths, empty for everything; nothing where no file can lie there."""
    clean = (path or "").strip("/")
    if not clean:
        return ""
    impossible = any(part in ("", ".", "..") for part in clean.split("/"))
    return None if impossible or len(os.fsencode(clean)) > _MAX_PART_LENGTH else clean


def _extend_walk(
    repository: Repository, tips: Sequence[str], wanted: CommitFilter, known: _CachedWalk, offset: int, end: int
) -> _CachedWalk:
    """What is known, the total, and this part of the list unless it lies so deep that it is better skipped to."""
    if wanted.is_selective:
        most = _MAX_WALK_LENGTH  # git looks at all commits anyway, to count those that match.
    elif end <= _FIRST_WALK_LENGTH:
        most = _FIRST_WALK_LENGTH
    elif known.total is None:
        most = 0  # One page alone is faster skipped to than walked to.
    else:
        # Twice as far as before: going through all pages then walks the list twice at most.
        most = max(-(-end // _FIRST_WALK_LENGTH) * _FIRST_WALK_LENGTH, 2 * known.length)
    walk = known
    if known.length < most <= _MAX_WALK_LENGTH and not known.covers(offset, end):
        walk = _run_walk(repository, tips, wanted, most, known.total)
    if walk.total is None:
        walk = msgspec.structs.replace(walk, total=_count(repository, tips, wanted))
    return walk


def _run_walk(
    repository: Repository, tips: Sequence[str], wanted: CommitFilter, limit: int, total: int | None
) -> _CachedWalk:
    oids = _read_oids(repository, tips, wanted, [f"--max-count={limit}"])
    walk = _CachedWalk(oids, total=total)
    if walk.length < limit:
        return _CachedWalk(oids, complete=True, total=walk.length)
    return walk


def _read_oids(repository: Repository, tips: Sequence[str], wanted: CommitFilter, options: list[str]) -> bytes:
    verb = ["log", "--format=%H"] if wanted.follow and wanted.path else ["rev-list"]
    return bytes.fromhex(_run_rev_list(repository, tips, wanted, [*verb, *options]).decode())


def _read_page(repository: Repository, tips: Sequence[str], wanted: CommitFilter, offset: int, size: int) -> bytes:
    if wanted.follow and wanted.path:
        # git skips commits before it follows, and so would skip ones that do not belong to the list.
        return _read_oids(repository, tips, wanted, [f"--max-count={offset + size}"])[offset * _OID_BYTES :]
    return _read_oids(repository, tips, wanted, [f"--skip={offset}", f"--max-count={size}"])


def _count(repository: Repository, tips: Sequence[str], wanted: CommitFilter) -> int:
    if wanted.follow and wanted.path:
        return len(_read_oids(repository, tips, wanted, [])) // _OID_BYTES
    # Bitmaps know only what a commit leads to, and nothing of the way.
    fast = [] if wanted.is_selective or wanted.first_parent else ["--use-bitmap-index"]
    return int(_run_rev_list(repository, tips, wanted, ["rev-list", "--count", *fast]))


def _run_rev_list(repository: Repository, tips: Sequence[str], wanted: CommitFilter, args: list[str]) -> bytes:
    """What git says of the commits that are wanted; tips go by its input, since there may be many."""
    options = []
    if wanted.since is not None:
        options.append(f"--since=@{wanted.since} +0000")  # Unlike ``--max-age``, it takes times after 2038.
    if wanted.until is not None:
        options.append(f"--until=@{wanted.until} +0000")
    if wanted.author is not None or wanted.message is not None:
        options += ["--fixed-strings", "--regexp-ignore-case"]
        options += [] if wanted.author is None else [f"--author={wanted.author}"]
        options += [] if wanted.message is None else [f"--grep={wanted.message}"]
    if wanted.first_parent:
        options.append("--first-parent")
    if wanted.topological:
        options.append("--topo-order")
    if wanted.follow and wanted.path:
        options.append("--follow")
    paths = [wanted.path] if wanted.path else []
    return run_git(
        [*args, *options, "--stdin", "--", *paths],
        repository.path,
        "\n".join([*tips, ""]).encode(),
        timeout=_SEARCH_SECONDS if wanted.message is not None else _SECONDS,
        env={"GIT_LITERAL_PATHSPECS": "1", **BUFFERED_OUTPUT, **(CASE_FOLDING if wanted.message is not None else {})},
    ).out
