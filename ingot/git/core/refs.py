"""References as git keeps them in files: a loose one wins over a packed one of the same name.

Read here without git and without libgit2, because most calls on a project ask for no more than this, and a
process is then spared the 20 MB that libgit2 takes.
"""

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ingot.git.core.errors import DamagedRepository, MissingRepository
from ingot.git.core.names import is_well_formed_ref

HEADS = b"refs/heads/"
TAGS = b"refs/tags/"
_OID = re.compile(rb"[0-9a-f]{40}")
_OID_LENGTH, _NAME_AT = 40, 41
_PACKED_LINE = re.compile(rb"^([0-9a-f]{40}) (refs/.+)\n(?:\^([0-9a-f]{40})\n)?", re.MULTILINE)
_SYMBOLIC = b"ref: "
_MAX_SYMBOLIC_HOPS = 5


class PackedRef(NamedTuple):
    """A line of packed-refs, and the one below it that says what a tag points at."""

    name: bytes
    oid: str
    peeled: str | None


class PackedRefs(NamedTuple):
    """What packed-refs held at one moment."""

    refs: list[PackedRef]
    fully_peeled: bool
    """Whether a line without a second one is known to point at no tag."""


def read_refs(path: Path, under: tuple[bytes, ...] = (b"refs/",)) -> dict[bytes, str]:
    """Every reference below one of the folders, sorted by name.

    Loose ones are read first: whoever packs them writes the packed file before it removes them, so what is
    gone from the one is in the other.
    """
    loose, symbolic = _loose_refs(path, under)
    found = _packed_refs_below(path, under)
    found |= loose
    for name, target in symbolic.items():
        oid = found.get(target)
        if oid is not None:
            found[name] = oid
    return dict(sorted(found.items()))


def has_refs(path: Path, under: tuple[bytes, ...]) -> bool:
    """Whether there is a reference below one of the folders; stops at the first."""
    if any(True for folder in under for _ in _loose_values(path, folder)):
        return True
    packed = _read_packed_text(path)
    return any(b" " + folder in packed for folder in under)


def read_tip_or_none(path: Path, ref: bytes) -> str | None:
    """The object that a reference points at, by its full name, or nothing where there is none."""
    for _ in range(_MAX_SYMBOLIC_HOPS):
        if not is_well_formed_ref(ref):
            return None
        value = _loose_value(os.fsencode(path) + b"/" + ref)
        if value is None:
            packed = _read_packed_text(path)
            place = packed.find(b" " + ref + b"\n")
            return None if place < 0 else packed[place - 40 : place].decode()
        if not value.startswith(_SYMBOLIC):
            return value.decode()
        ref = value.removeprefix(_SYMBOLIC)
    return None


def read_head(path: Path) -> bytes:
    """The full name of the branch that HEAD points to, whether it exists or not."""
    try:
        text = (path / "HEAD").read_bytes().strip()
    except OSError as error:
        if not path.is_dir():
            raise MissingRepository(f"The repository {path.name} was removed") from error
        raise DamagedRepository(f"HEAD of {path.name} cannot be read") from error
    ref = text.removeprefix(_SYMBOLIC)
    if ref == text or not ref.startswith(HEADS) or not is_well_formed_ref(ref):
        raise DamagedRepository(f"HEAD of {path.name} names no branch")
    return ref


def read_packed_refs(path: Path) -> PackedRefs:
    """The packed references, in the order of the file."""
    text = _read_packed_text(path)
    refs = [
        PackedRef(name, oid.decode(), peeled.decode() if peeled else None)
        for oid, name, peeled in _PACKED_LINE.findall(text)
    ]
    return PackedRefs(refs, b" fully-peeled" in text.partition(b"\n")[0])


def format_packed_refs(refs: list[PackedRef]) -> bytes:
    """A packed-refs file of these, each of which must be fully peeled."""
    lines = [b"# pack-refs with: peeled fully-peeled sorted "]
    for ref in sorted(refs):
        lines.append(ref.oid.encode() + b" " + ref.name)
        if ref.peeled is not None:
            lines.append(b"^" + ref.peeled.encode())
    return b"\n".join(lines) + b"\n"


def _read_packed_text(path: Path) -> bytes:
    try:
        return (path / "packed-refs").read_bytes()
    except FileNotFoundError:
        return b""


def _packed_refs_below(path: Path, under: tuple[bytes, ...]) -> dict[bytes, str]:
    """Packed references below folders: by their places in the lines, a third of what an expression takes for many."""
    part = _packed_lines_below(path, under)
    lines = part.split(b"\n")
    if sum(part.count(b" " + folder) for folder in under) != len(lines):  # What tags point at, or others in between.
        lines = [line for line in lines if line.startswith(under, _NAME_AT)]
        part = b"\n".join(lines)
    if not part:
        return {}
    oids = [line[:_OID_LENGTH] for line in part.decode("latin-1").split("\n")]
    return dict(zip([line[_NAME_AT:] for line in lines], oids, strict=True))


def _packed_lines_below(path: Path, under: tuple[bytes, ...]) -> bytes:
    """The lines from the first to the last below a folder: the file is in order, and others may be many."""
    text = _read_packed_text(path)
    starts = [place for folder in under if (place := text.find(b" " + folder)) >= 0]
    if not starts:
        return b""
    last = max(text.rfind(b" " + folder) for folder in under)
    end = text.find(b"\n", last)
    return text[min(starts) - _OID_LENGTH : end if end >= 0 else len(text)]


def _loose_refs(path: Path, under: tuple[bytes, ...]) -> tuple[dict[bytes, str], dict[bytes, bytes]]:
    direct: dict[bytes, str] = {}
    symbolic: dict[bytes, bytes] = {}
    for folder in under:
        for name, value in _loose_values(path, folder):
            if value.startswith(_SYMBOLIC):
                symbolic[name] = value.removeprefix(_SYMBOLIC)
            else:
                direct[name] = value.decode()
    return direct, symbolic


def _loose_values(path: Path, folder: bytes) -> Iterator[tuple[bytes, bytes]]:
    root = os.fsencode(path) + b"/"
    for where, _, files in os.walk(root + folder.rstrip(b"/")):
        for file in files:
            full = where + b"/" + file
            name = full.removeprefix(root)
            value = _loose_value(full) if is_well_formed_ref(name) else None
            if value is not None:
                yield name, value


def _loose_value(file: bytes) -> bytes | None:
    """What a loose reference says; one that says nothing sensible is passed over, as git does."""
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - The name is bytes, which Path does not take.
            value = opened.read(4096).strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise
    return value if _OID.fullmatch(value) or value.startswith(_SYMBOLIC) else None
