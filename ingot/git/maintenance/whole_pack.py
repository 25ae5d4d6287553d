"""Record of a pack that contains exactly the objects of all branches and tags, which full clones receive as is.

To generate such a pack, git counts all objects that it sends, which takes longer than sending them. The objects of a
pack and the history of commits never change, so the record stays valid when refs change; if the pack is deleted, git
generates one as usual.
"""

import os
from collections.abc import Collection
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS, TAGS, read_refs

NOTE_NAME = "whole-pack"
"""File in the repository: the path of the pack, then the ids of the refs that reach all of it, in order."""
MIN_BYTES = 4 * 2**20
"""A smaller pack is generated faster than the record is checked."""
_SECONDS = 600.0
_INDEX_MAGIC = b"\xfftOc\0\0\0\2"
_COUNT_OFFSET = 8 + 255 * 4
_LOOSE_NAME = 2


def record_whole_pack(path: Path) -> bool:
    """Record the pack that contains everything, if there is one; called only by housekeeping, under its lock."""
    # Read the refs first: their objects exist already, and so are in the pack if there is only one afterwards.
    tips = sorted(set(read_refs(path, (HEADS, TAGS)).values()))
    pack = _only_pack(path)
    note = path / NOTE_NAME
    if pack is None or not tips or _object_count(pack) != _count_reachable(path, tips):
        note.unlink(missing_ok=True)
        return False
    temporary = path / f".tmp-{NOTE_NAME}"
    temporary.write_text("\n".join([str(pack.relative_to(path)), *tips, ""]))
    temporary.replace(note)
    return True


def has_whole_pack(path: Path) -> bool:
    """Return whether such a pack is recorded."""
    return (path / NOTE_NAME).exists()


def _only_pack(path: Path) -> Path | None:
    """Return the pack of a repository that has nothing but one pack."""
    objects = path / "objects"
    packs = [Path(entry.path) for entry in os.scandir(objects / "pack") if entry.name.endswith(".pack")]
    loose = any(len(entry.name) == _LOOSE_NAME and any(os.scandir(entry.path)) for entry in os.scandir(objects))
    if len(packs) != 1 or loose or (objects / "info" / "alternates").exists():
        return None
    return packs[0] if packs[0].stat().st_size >= MIN_BYTES else None


def _object_count(pack: Path) -> int | None:
    """Return the number of objects in a pack."""
    with pack.with_suffix(".idx").open("rb") as index:
        if index.read(len(_INDEX_MAGIC)) != _INDEX_MAGIC:
            return None
        index.seek(_COUNT_OFFSET)
        return int.from_bytes(index.read(4), "big")


def _count_reachable(path: Path, tips: Collection[str]) -> int:
    """Count the objects that are reachable from commits and tags."""
    args = ["rev-list", "--count", "--objects", "--use-bitmap-index", "--stdin"]
    return int(run_git(args, path, "\n".join([*tips, ""]).encode(), timeout=_SECONDS).out)
