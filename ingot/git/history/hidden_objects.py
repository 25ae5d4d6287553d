"""Detection of objects that only hidden refs reach, so that callers without access cannot read them by id."""

import hashlib
from collections.abc import Collection, Sequence

from ingot.core.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git
from ingot.git.core.layout import INTERNAL_REFS, MERGE_REQUEST_REFS
from ingot.git.core.refs import has_refs
from ingot.git.core.repository import Repository
from ingot.git.history.log import BUFFERED_OUTPUT

_SECONDS = 60.0
_NON_PUBLIC_REFS = tuple(f"{prefix}/".encode() for prefix in (*INTERNAL_REFS, MERGE_REQUEST_REFS))

_Key = tuple[str, bytes, bytes, frozenset[str]]
_hidden_cache: BoundedCache[_Key, frozenset[str]] = declare_cache("hidden-objects", share=1)


def hidden_objects_among(repository: Repository, oids: Collection[str], hidden: Sequence[str]) -> frozenset[str]:
    """Return the objects that hidden refs reach and neither a branch nor a tag does.

    Unreachable objects are not included: they were visible once.
    """
    folders = tuple(f"{prefix}/".encode() for prefix in hidden)
    if not has_refs(repository.path, folders):
        return frozenset()
    refs = repository.refs()
    visible = {oid for name, oid in refs.items() if not name.startswith(_NON_PUBLIC_REFS)}
    candidates = frozenset(oids) - visible
    tips = {oid for name, oid in refs.items() if name.startswith(folders)}
    if not candidates or not tips:
        return frozenset()
    key = str(repository.path), _digest(visible), _digest(tips), candidates
    cached = _hidden_cache.get(key)
    if cached is not None:
        return cached
    hidden_only = _reachable_among(repository, candidates, [*tips, *(f"^{oid}" for oid in visible)])
    if hidden_only and visible:
        # Without a bitmap git only excludes the newest visible trees; the listed objects may be in older ones.
        hidden_only -= _reachable_among(repository, hidden_only, [*visible])
    return _hidden_cache.put(key, hidden_only, 500 + 200 * len(candidates))


def _reachable_among(repository: Repository, candidates: frozenset[str], tips: list[str]) -> frozenset[str]:
    """Return the requested objects that a walk from these tips reaches; the others are not held in memory."""
    found: set[str] = set()
    rest = b""

    def collect(piece: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + piece).split(b"\n")
        found.update(candidates.intersection(line.decode() for line in lines))

    args = ["rev-list", "--objects", "--no-object-names", "--use-bitmap-index", "--stdin"]
    revisions = "\n".join([*tips, ""]).encode()
    run_git(args, repository.path, revisions, timeout=_SECONDS, env=BUFFERED_OUTPUT, on_stdout=collect)
    return frozenset(found)


def _digest(oids: Collection[str]) -> bytes:
    return hashlib.sha256(" ".join(sorted(oids)).encode()).digest()
