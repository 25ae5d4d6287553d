"""Number of commits in a history, counted from that of a recent tip where possible."""

import zlib
from pathlib import Path

from ingot.core.cache import BoundedCache, declare_cache
from ingot.git.core.command import run_git

_MAX_STEPS = 50
_HEAD_BYTES = 4096
"""Part of a commit that contains its tree and, unless there are very many, its parents."""
_COUNT_BYTES = 200
_count_cache: BoundedCache[tuple[str, str], int] = declare_cache("commit-counts", share=0.5)


def count_history(path: Path, tip: str) -> int:
    """Count the commits that are reachable from a commit.

    After a commit on a tip that was counted, or a push of a few, no git process is started.
    """
    repository_key = str(path)
    oid, steps = tip, 0
    while (known := _count_cache.get((repository_key, oid))) is None and steps < _MAX_STEPS:
        parents = _loose_parents(path, oid)
        if len(parents) != 1:
            break
        oid, steps = parents[0], steps + 1
    if known is None:
        result = run_git(["rev-list", "--count", "--use-bitmap-index", tip, "--"], path)
        known, steps = int(result.out), 0
    return _count_cache.put((repository_key, tip), known + steps, _COUNT_BYTES)


def _loose_parents(path: Path, oid: str) -> list[str]:
    """Return the parents of a commit that is a file of its own; none if it is packed or cannot be read."""
    try:
        packed = (path / "objects" / oid[:2] / oid[2:]).read_bytes()
        head = zlib.decompressobj().decompress(packed, _HEAD_BYTES)
    except (OSError, zlib.error):  # Packed, or damaged, which git reports.
        return []
    kind, _, content = head.partition(b"\0")
    if not kind.startswith(b"commit "):
        return []
    lines = content.partition(b"\n\n")[0].split(b"\n")
    return [line.removeprefix(b"parent ").decode() for line in lines if line.startswith(b"parent ")]
