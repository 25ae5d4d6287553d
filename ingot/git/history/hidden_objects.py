"""What only hidden references hold: whoever may not have these must not get it by its id either."""

import hashlib
from collections.abc import Collection, Sequence

from ingot.cache import BoundedCache, declare_cache
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
    """Those of these objects to which hidden references lead, and neither a branch nor a tag does.

    What nothing leads to any more is not among them: it was shown to everybody once.
    """
    folders = tuple(f"{prefix}/".encode() for prefix in hidden)
    if not has_refs(repository.path, folders):
        return frozenset()
    refs = repository.refs()
    shown = {oid for name, oid in refs.items() if not name.startswith(_NON_PUBLIC_REFS)}
    asked = frozenset(oids) - shown
    tips = {oid for name, oid in refs.items() if name.startswith(folders)}
    if not asked or not tips:
        return frozenset()
    key = str(repository.path), _digest(shown), _digest(tips), asked
    known = _hidden_cache.get(key)
    if known is not None:
        return known
    found = _reachable_among(repository, asked, [*tips, *(f"^{oid}" for oid in shown)])
    if found and shown:
        # Without a bitmap git looks only at the youngest folders that are shown; what it names may lie in older ones.
        found -= _reachable_among(repository, found, [*shown])
    return _hidden_cache.put(key, found, 500 + 200 * len(asked))


def _reachable_among(repository: Repository, asked: frozenset[str], tips: list[str]) -> frozenset[str]:
    """Those of the asked ones that are named on a walk from these tips; of the rest nothing is kept."""
    found: set[str] = set()
    rest = b""

    def look(piece: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + piece).split(b"\n")
        found.update(asked.intersection(line.decode() for line in lines))

    args = ["rev-list", "--objects", "--no-object-names", "--use-bitmap-index", "--stdin"]
    asking = "\n".join([*tips, ""]).encode()
    run_git(args, repository.path, asking, timeout=_SECONDS, env=BUFFERED_OUTPUT, on_stdout=look)
    return frozenset(found)


def _digest(oids: Collection[str]) -> bytes:
    return hashlib.sha256(" ".join(sorted(oids)).encode()).digest()
