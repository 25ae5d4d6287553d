"""Lists of commits in the order of ``git log``, with cached walks."""

import hashlib
import os
from collections.abc import Sequence

import msgspec

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.core.sorted_refs import refs_fingerprint

BUFFERED_OUTPUT = {"GIT_FLUSH": "0"}
"""Without this git flushes every line into the pipe, which takes longer than finding the commits."""
CASE_FOLDING = {"LC_ALL": "C.UTF-8"}
"""With this git folds the case of non-ASCII letters too."""
_SECONDS = 60.0
_SEARCH_SECONDS = 10.0
_OID_BYTES = 20
_FIRST_WALK_LENGTH = 4096
_MAX_WALK_LENGTH = 262_144
"""Maximum number of cached commits of one list; later pages are read by a new walk."""
_NAME_BYTES = 48
"""Memory of a name besides its characters."""
_MAX_PART_LENGTH = 64 * 1024
"""Half of the operating system's limit for one argument."""


class CommitFilter(msgspec.Struct, frozen=True):
    """Filter of a commit list; times are in seconds and inclusive."""

    path: str | None = None
    follow: bool = False
    """Follow the file across renames."""
    since: int | None = None
    until: int | None = None
    author: str | None = None
    message: str | None = None
    """Text that the message must contain, ignoring case."""
    first_parent: bool = False
    topological: bool = False
    """Show no parent before all of its children, and do not interleave branches."""

    @property
    def is_selective(self) -> bool:
        """Return whether git has to inspect commits one by one."""
        return any(part is not None for part in (self.path, self.since, self.until, self.author, self.message))


ALL_COMMITS = CommitFilter()


class _CachedWalk(msgspec.Struct, frozen=True):
    """Cached beginning of a commit list."""

    oids: bytes = b""
    """Packed, 20 bytes each."""
    complete: bool = False
    total: int | None = None

    @property
    def length(self) -> int:
        return len(self.oids) // _OID_BYTES

    def covers(self, offset: int, end: int) -> bool:
        """Return whether this range of the list is cached or beyond the end."""
        return self.complete or self.length >= end or (self.total is not None and offset >= self.total)

    def part(self, offset: int, end: int) -> list[str]:
        return _unpack_oids(self.oids[offset * _OID_BYTES : end * _OID_BYTES])


_list_cache: BoundedCache[tuple[str, str, CommitFilter], _CachedWalk] = declare_cache("commit-lists", share=4)
_Containing = tuple[tuple[object, ...], list[bytes]]
_containing_cache: BoundedCache[tuple[str, bytes, str], _Containing] = declare_cache("refs-containing", share=1)


def list_commits(
    repository: Repository, tips: Sequence[str], selection: CommitFilter, offset: int, size: int
) -> tuple[list[str], int]:
    """Return the ids of one page of the commits that are reachable from the tips, and the total number.

    Walks are cached by the ids of the tips: reading page after page makes git walk the list twice at most, and cached
    pages start no process.
    """
    path = _clean_path(selection.path)
    if not tips or path is None or (selection.until is not None and selection.until < 0):
        return [], 0
    since = selection.since if selection.since is not None and selection.since > 0 else None
    selection = msgspec.structs.replace(selection, path=path or None, since=since)
    key = str(repository.path), _digest(tips), selection
    cached = _list_cache.get(key) or _CachedWalk()
    end = offset + size
    extended = cached
    if cached.total is None or not cached.covers(offset, end):
        extended = _extend_walk(repository, tips, selection, cached, offset, end)
        words = f"{selection.path}{selection.author}{selection.message}"
        _list_cache.put(key, extended, len(extended.oids) + 4 * len(words) + 500)
    if extended.covers(offset, end):
        page = extended.part(offset, end)
    else:
        page = _unpack_oids(_read_page(repository, tips, selection, offset, size))
    return page, extended.total or 0


def count_commits(repository: Repository, tip: str, *, first_parent: bool = False) -> int:
    """Count the commits that are reachable from a commit, including itself."""
    return list_commits(repository, [tip], CommitFilter(first_parent=first_parent), 0, 0)[1]


def all_tips(repository: Repository) -> list[str]:
    """Return the objects that all branches and tags point at, in their order."""
    require_blocking_allowed()
    return list(dict.fromkeys(read_refs(repository.path, (HEADS, TAGS)).values()))


def commits_between(repository: Repository, old: str | None, new: str, limit: int) -> list[str]:
    """Return the newest commits that are reachable from ``new`` and not from ``old``, oldest first."""
    # Listed in git's default order and reversed here: ``--reverse`` would return the oldest ones.
    without = [] if old is None else [f"^{old}"]
    args = ["rev-list", f"--max-count={limit}", "--end-of-options", new, *without, "--"]
    return run_git(args, repository.path).out.decode().split()[::-1]


def count_between(repository: Repository, old: str | None, new: str) -> int:
    """Count the commits that are reachable from ``new`` and not from ``old``."""
    excluded = [] if old is None else [f"^{old}"]
    return int(run_git(["rev-list", "--count", "--end-of-options", new, *excluded, "--"], repository.path).out)


def refs_containing(repository: Repository, oid: str, folder: bytes, generation: int) -> list[bytes]:
    """List the full names of the branches or tags that contain a commit, sorted; callers must not modify the list.

    ``generation`` counts the changes of refs. git takes a second for this where there are thousands of refs.
    """
    key = str(repository.path), folder, oid
    state = refs_fingerprint(repository, folder, generation)
    cached = _containing_cache.get(key)
    if cached is not None and cached[0] == state:
        return cached[1]
    args = ["for-each-ref", f"--contains={oid}", "--format=%(refname)"]
    names = sorted(run_git(args, repository.path, operands=[folder.decode()]).out.splitlines())
    _containing_cache.put(key, (state, names), sum(map(len, names)) + _NAME_BYTES * len(names) + 600)
    return names


def _unpack_oids(oids: bytes) -> list[str]:
    return oids.hex(" ", _OID_BYTES).split()


def _digest(tips: Sequence[str]) -> str:
    return tips[0] if len(tips) == 1 else hashlib.sha256(" ".join(tips).encode()).hexdigest()


def _clean_path(path: str | None) -> str | None:
    """Return the path as git writes it, empty for everything, or None if no file can have it."""
    clean = (path or "").strip("/")
    if not clean:
        return ""
    invalid = any(part in ("", ".", "..") for part in clean.split("/"))
    return None if invalid or len(os.fsencode(clean)) > _MAX_PART_LENGTH else clean


def _extend_walk(
    repository: Repository, tips: Sequence[str], selection: CommitFilter, cached: _CachedWalk, offset: int, end: int
) -> _CachedWalk:
    """Return a walk with the total and this range, unless the range is so far down that skipping to it is faster."""
    if selection.is_selective:
        limit = _MAX_WALK_LENGTH  # git inspects all commits anyway to count the matches.
    elif end <= _FIRST_WALK_LENGTH:
        limit = _FIRST_WALK_LENGTH
    elif cached.total is None:
        limit = 0  # Skipping to a single page is faster than walking to it.
    else:
        # Twice as far as before: reading all pages then walks the list twice at most.
        limit = max(-(-end // _FIRST_WALK_LENGTH) * _FIRST_WALK_LENGTH, 2 * cached.length)
    walk = cached
    if cached.length < limit <= _MAX_WALK_LENGTH and not cached.covers(offset, end):
        walk = _run_walk(repository, tips, selection, limit, cached.total)
    if walk.total is None:
        walk = msgspec.structs.replace(walk, total=_count(repository, tips, selection))
    return walk


def _run_walk(
    repository: Repository, tips: Sequence[str], selection: CommitFilter, limit: int, total: int | None
) -> _CachedWalk:
    oids = _read_oids(repository, tips, selection, [f"--max-count={limit}"])
    walk = _CachedWalk(oids, total=total)
    if walk.length < limit:
        return _CachedWalk(oids, complete=True, total=walk.length)
    return walk


def _read_oids(repository: Repository, tips: Sequence[str], selection: CommitFilter, options: list[str]) -> bytes:
    verb = ["log", "--format=%H"] if selection.follow and selection.path else ["rev-list"]
    return bytes.fromhex(_run_rev_list(repository, tips, selection, [*verb, *options]).decode())


def _read_page(repository: Repository, tips: Sequence[str], selection: CommitFilter, offset: int, size: int) -> bytes:
    if selection.follow and selection.path:
        # With ``--follow``, git skips commits before it filters them and would skip wrong ones.
        return _read_oids(repository, tips, selection, [f"--max-count={offset + size}"])[offset * _OID_BYTES :]
    return _read_oids(repository, tips, selection, [f"--skip={offset}", f"--max-count={size}"])


def _count(repository: Repository, tips: Sequence[str], selection: CommitFilter) -> int:
    if selection.follow and selection.path:
        return len(_read_oids(repository, tips, selection, [])) // _OID_BYTES
    # Bitmaps describe reachability only, not the first-parent path.
    fast = [] if selection.is_selective or selection.first_parent else ["--use-bitmap-index"]
    return int(_run_rev_list(repository, tips, selection, ["rev-list", "--count", *fast]))


def _run_rev_list(repository: Repository, tips: Sequence[str], selection: CommitFilter, args: list[str]) -> bytes:
    """Run git over the selected commits; the tips are passed on standard input, since there may be many."""
    options = []
    if selection.since is not None:
        options.append(f"--since=@{selection.since} +0000")  # Unlike ``--max-age``, it accepts times after 2038.
    if selection.until is not None:
        options.append(f"--until=@{selection.until} +0000")
    if selection.author is not None or selection.message is not None:
        options += ["--fixed-strings", "--regexp-ignore-case"]
        options += [] if selection.author is None else [f"--author={selection.author}"]
        options += [] if selection.message is None else [f"--grep={selection.message}"]
    if selection.first_parent:
        options.append("--first-parent")
    if selection.topological:
        options.append("--topo-order")
    if selection.follow and selection.path:
        options.append("--follow")
    paths = [selection.path] if selection.path else []
    return run_git(
        [*args, *options, "--stdin", "--", *paths],
        repository.path,
        "\n".join([*tips, ""]).encode(),
        timeout=_SEARCH_SECONDS if selection.message is not None else _SECONDS,
        env={
            "GIT_LITERAL_PATHSPECS": "1",
            **BUFFERED_OUTPUT,
            **(CASE_FOLDING if selection.message is not None else {}),
        },
    ).out
