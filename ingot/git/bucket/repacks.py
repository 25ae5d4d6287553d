"""Choice of the packs that housekeeping combines."""

from collections.abc import Sequence

from ingot.git.bucket.tables import StoredPack

_FACTOR = 2
_MIN_PACKS = 8
"""Fewer packs slow down no reader, and a pack that is not replaced need not be downloaded again by other nodes."""


def packs_to_combine(packs: Sequence[StoredPack]) -> list[StoredPack]:
    """Return the smallest packs, such that each one that remains is twice as large as all smaller ones together."""
    if len(packs) < _MIN_PACKS:
        return []
    by_size = sorted(packs, key=lambda pack: pack.pack_bytes)
    combined = 0
    total = 0
    for number, pack in enumerate(by_size):
        if number > 0 and pack.pack_bytes < _FACTOR * total:
            combined = number + 1
        total += pack.pack_bytes
    return by_size[:combined]
