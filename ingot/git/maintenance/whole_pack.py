"""A pack that holds just what branches and tags lead to: whoever clones all of it gets it as it lies.

To make such a pack anew, git adds up everything that it sends, which takes longer than to send it. Which objects a pack
holds and where commits lead never changes, so that what is noted here stays true whatever becomes of the references; a
pack that is gone is made anew, as any other.
"""

import os
from collections.abc import Collection
from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.refs import HEADS, TAGS, read_refs

NOTE_NAME = "whole-pack"
"""In the repository: the path of the pack, then the ids that lead to all of it, in order."""
MIN_BYTES = 4 * 2**20
"""What is smaller is made in less time than it takes to look whether it must be."""
_SECONDS = 600.0
_INDEX_MAGIC = b"\xfftOc\0\0\0\2"
_COUNT_AT = 8 + 255 * 4
_LOOSE_NAME = 2


def record_whole_pack(path: Path) -> bool:
    """Note the pack that holds all, where there is one; only housekeeping does, one at a time."""
    # Before anything else: what these lead to is there already, and so in the only pack if there is only one then.
    tips = sorted(set(read_refs(path, (HEADS, TAGS)).values()))
    pack = _only_pack(path)
    note = path / NOTE_NAME
    if pack is None or not tips or _object_count(pack) != _count_reachable(path, tips):
        note.unlink(missing_ok=True)
        return False
    draft = path / f".tmp-{NOTE_NAME}"
    draft.write_text("\n".join([str(pack.relative_to(path)), *tips, ""]))
    draft.replace(note)
    return True


def has_whole_pack(path: Path) -> bool:
    """Whether one is noted."""
    return (path / NOTE_NAME).exists()


def _only_pack(path: Path) -> Path | None:
    """The pack of a repository that has nothing but one."""
    objects = path / "objects"
    packs = [Path(entry.path) for entry in os.scandir(objects / "pack") if entry.name.endswith(".pack")]
    loose = any(len(entry.name) == _LOOSE_NAME and any(os.scandir(entry.path)) for entry in os.scandir(objects))
    if len(packs) != 1 or loose or (objects / "info" / "alternates").exists():
        return None
    return packs[0] if packs[0].stat().st_size >= MIN_BYTES else None


def _object_count(pack: Path) -> int | None:
    """How many objects a pack holds."""
    with pack.with_suffix(".idx").open("rb") as index:
        if index.read(len(_INDEX_MAGIC)) != _INDEX_MAGIC:
            return None
        index.seek(_COUNT_AT)
        return int.from_bytes(index.read(4), "big")


def _count_reachable(path: Path, tips: Collection[str]) -> int:
    """How many objects commits and tags lead to."""
    args = ["rev-list", "--count", "--objects", "--use-bitmap-index", "--stdin"]
    return int(run_git(args, path, "\n".join([*tips, ""]).encode(), timeout=_SECONDS).out)
