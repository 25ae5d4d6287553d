"""What only hidden references hold: whoever may not have these must not get it by its id either."""

import hashlib
from collections.abc import Collection, Sequence

from ingot.git.command import run_git
from ingot.git.history import BUFFERED
from ingot.git.keeping import Keeper
from ingot.git.layout import INTERNAL_REFS, MERGE_REQUEST_REFS
from ingot.git.refs import any_ref
from ingot.git.repository import Repository

_KEPT_BYTES = 2**20
_SECONDS = 60.0
_NOT_SHOWN = tuple(f"{prefix}/".encode() for prefix in (*INTERNAL_REFS, MERGE_REQUEST_REFS))

_kept: Keeper[frozenset[str]] = Keeper(_KEPT_BYTES)


def only_hidden(repository: Repository, oids: Collection[str], hidden: Sequence[str]) -> frozenset[str]:
    """Those of these objects to which hidden references lead, and neither a branch nor a tag does.

    What nothing leads to any more is not among them: it was shown to everybody once.
    """
    folders = tuple(f"{prefix}/".encode() for prefix in hidden)
    if not any_ref(repository.path, folders):
        return frozenset()
    refs = repository.refs()
    shown = {oid for name, oid in refs.items() if not name.startswith(_NOT_SHOWN)}
    asked = frozenset(oids) - shown
    tips = {oid for name, oid in refs.items() if name.startswith(folders)}
    if not asked or not tips:
        return frozenset()
    key = str(repository.path), _digest(shown), _digest(tips), asked
    known = _kept.get(key)
    if known is not None:
        return known
    found = _among(repository, asked, [*tips, *(f"^{oid}" for oid in shown)])
    if found and shown:
        # Without a bitmap git looks only at the youngest folders that are shown; what it names may lie in older ones.
        found -= _among(repository, found, [*shown])
    return _kept.keep(key, found, 100 * len(asked))


def _among(repository: Repository, asked: frozenset[str], tips: list[str]) -> frozenset[str]:
    """Those of the asked ones that are named on a walk from these tips; of the rest nothing is kept."""
    found: set[str] = set()
    rest = b""

    def look(piece: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + piece).split(b"\n")
        found.update(asked.intersection(line.decode() for line in lines))

    args = ["rev-list", "--objects", "--no-object-names", "--use-bitmap-index", "--stdin"]
    asking = "\n".join([*tips, ""]).encode()
    run_git(args, repository.path, asking, timeout=_SECONDS, env=BUFFERED, on_out=look)
    return frozenset(found)


def _digest(oids: Collection[str]) -> bytes:
    return hashlib.sha256(" ".join(sorted(oids)).encode()).digest()
