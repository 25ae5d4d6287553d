"""The pack with the objects that a change of refs adds to a repository in a bucket."""

import secrets
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ingot.git.bucket.local_copy import LocalCopy
from ingot.git.core.command import run_git

_TIMEOUT_SECONDS = 3600.0
_OID_BYTES = 20
_FANOUT_START, _FANOUT_ENTRIES = 8, 256


@contextmanager
def new_packs(
    copy: LocalCopy,
    tips: Collection[str],
    listed: Collection[str],
    pushed: Sequence[str],
    known: Collection[str] | None = None,
) -> Iterator[list[Path]]:
    """Yield the packs that the bucket needs for the objects ``tips`` and their history.

    ``listed`` are the packs in rows. If nothing but ``pushed`` was added to the copy since, git has checked that these
    are sufficient. Otherwise the objects may be anywhere, such as in the rest of a push that failed, and those that
    neither ``known`` nor, without it, the refs of the copy reach are packed anew. Loose objects are removed at the end,
    because every later change would pack again while there are some.
    """
    unlisted = copy.pack_names() - set(listed)
    has_loose = copy.has_loose_objects()
    if not tips or (not unlisted and not has_loose):
        yield []
        return
    if unlisted == set(pushed) and not has_loose:
        yield [copy.packs / f"{name}.pack" for name in pushed]
        return
    pack = _pack_new_objects(copy, tips, copy.committed_tips() if known is None else set(known))
    packed = objects_in_index(pack.with_suffix(".idx")) if has_loose and pack is not None else []
    yield [] if pack is None else [pack]
    copy.remove_loose_objects(packed)


def pack_everything(folder: Path) -> list[Path]:
    """Pack the loose objects of a repository; return all its packs."""
    copy = LocalCopy(folder)
    if copy.has_loose_objects():
        run_git(["repack", "-d", "-q"], folder, timeout=_TIMEOUT_SECONDS, max_memory=None)
    return [copy.packs / f"{name}.pack" for name in sorted(copy.pack_names())]


def combine_packs(copy: LocalCopy, names: Sequence[str]) -> Path | None:
    """Write a pack with the objects of others; return it, or None if a pack was removed meanwhile."""
    lines = "".join(f"{name}.pack\n" for name in names).encode()
    return _run_pack_objects(copy, ["--stdin-packs"], lines)


def objects_in_index(index: Path) -> list[str]:
    """Return the objects of a pack, from its index."""
    content = index.read_bytes()
    end = _FANOUT_START + 4 * _FANOUT_ENTRIES
    count = int.from_bytes(content[end - 4 : end], "big")
    names = content[end : end + count * _OID_BYTES]
    return names.hex(" ", _OID_BYTES).split() if names else []


def _pack_new_objects(copy: LocalCopy, tips: Collection[str], known: set[str]) -> Path | None:
    """Pack what the tips reach and no known object does; return None if that is nothing."""
    revisions = [*sorted(set(tips) - known), *(f"^{oid}" for oid in sorted(known))]
    return _run_pack_objects(copy, ["--revs"], "\n".join(revisions).encode() + b"\n")


def _run_pack_objects(copy: LocalCopy, options: Sequence[str], lines: bytes) -> Path | None:
    """Write a pack beside the others and move it there; its index comes last, because it makes the pack visible."""
    folder = copy.path / "objects" / f"incoming-{secrets.token_hex(8)}"
    folder.mkdir()
    try:
        arguments = ["pack-objects", "--quiet", "--non-empty", "--delta-base-offset", *options, f"{folder}/pack"]
        run_git(arguments, copy.path, lines, timeout=_TIMEOUT_SECONDS, max_memory=None)
        packs = list(folder.glob("*.pack"))
        if not packs:
            return None
        for suffix in (".rev", ".pack", ".idx"):
            file = packs[0].with_suffix(suffix)
            if file.exists():
                file.rename(copy.packs / file.name)
        return copy.packs / packs[0].name
    finally:
        shutil.rmtree(folder, ignore_errors=True)
