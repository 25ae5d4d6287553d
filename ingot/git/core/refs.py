"""Reader of ref files: loose refs take precedence over packed refs of the same name.

Uses neither git nor libgit2, because most requests for a project need only this, and the process then saves the 20 MB
that libgit2 takes.
"""

import errno
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ingot.core.disk_errors import RETRY_PAUSES
from ingot.git.core.errors import DamagedRepository, MissingRepository
from ingot.git.core.layout import GENERATION
from ingot.git.core.names import is_well_formed_ref
from ingot.git.core.shared_disks import on_shared_disk, read_current, repeated_when_stale

HEADS = b"refs/heads/"
TAGS = b"refs/tags/"
NOTES = b"refs/notes/"
_OID = re.compile(rb"[0-9a-f]{40}")
_OID_LENGTH, _NAME_START = 40, 41
_PACKED_LINE = re.compile(rb"^([0-9a-f]{40}) (refs/.+)\n(?:\^([0-9a-f]{40})\n)?", re.MULTILINE)
_SYMBOLIC = b"ref: "
_MAX_SYMBOLIC_HOPS = 5


class PackedRef(NamedTuple):
    """A line of packed-refs, with the object that an annotated tag points at."""

    name: bytes
    oid: str
    peeled: str | None


class PackedRefs(NamedTuple):
    """The content of packed-refs at one moment."""

    refs: list[PackedRef]
    fully_peeled: bool
    """If true, a ref without a peeled object is not an annotated tag."""


@repeated_when_stale
def read_refs(path: Path, under: tuple[bytes, ...] = (b"refs/",)) -> dict[bytes, str]:
    """Return all refs below the given folders, sorted by name.

    Loose refs are read first: git writes packed-refs before it deletes the loose files, so a ref that disappears in
    between is in packed-refs.
    """
    loose, symbolic = _loose_refs(path, under)
    refs = _packed_refs_below(path, under)
    refs |= loose
    for name, target in symbolic.items():
        oid = refs.get(target)
        if oid is not None:
            refs[name] = oid
    return dict(sorted(refs.items()))


@repeated_when_stale
def has_refs(path: Path, under: tuple[bytes, ...]) -> bool:
    """Return whether a ref exists below one of the folders; stops at the first."""
    if any(True for folder in under for _ in _loose_values(path, folder)):
        return True
    packed = _read_packed_text(path)
    return any(b" " + folder in packed for folder in under)


@repeated_when_stale
def has_more_refs_than(path: Path, under: tuple[bytes, ...], limit: int) -> bool:
    """Return whether there are more refs below the folders than a limit; most repositories are only counted."""
    packed = _read_packed_text(path)
    at_most = sum(packed.count(b" " + folder) + sum(1 for _ in _loose_values(path, folder)) for folder in under)
    # A ref that is both loose and packed has been counted twice.
    return at_most > limit and len(read_refs(path, under)) > limit


@repeated_when_stale
def read_tip_or_none(path: Path, ref: bytes) -> str | None:
    """Return the object that a ref points at, by its full name, or None if it does not exist."""
    for _ in range(_MAX_SYMBOLIC_HOPS):
        if not is_well_formed_ref(ref):
            return None
        value = _loose_value(os.fsencode(path) + b"/" + ref, shared=on_shared_disk(path))
        if value is None:
            packed = _read_packed_text(path)
            position = packed.find(b" " + ref + b"\n")
            return None if position < 0 else packed[position - 40 : position].decode()
        if not value.startswith(_SYMBOLIC):
            return value.decode()
        ref = value.removeprefix(_SYMBOLIC)
    return None


@repeated_when_stale
def read_head(path: Path) -> bytes:
    """Return the full name of the branch that HEAD points at; the branch may not exist yet."""
    try:
        text = read_current(f"{path}/HEAD", _ends_a_line, shared=on_shared_disk(path)).strip()
    except OSError as error:
        if not path.is_dir():
            raise MissingRepository(f"The repository {path.name} was removed") from error
        raise DamagedRepository(f"HEAD of {path.name} cannot be read") from error
    ref = text.removeprefix(_SYMBOLIC)
    if ref == text or not ref.startswith(HEADS) or not is_well_formed_ref(ref):
        raise DamagedRepository(f"HEAD of {path.name} names no branch")
    return ref


@repeated_when_stale
def read_packed_refs(path: Path) -> PackedRefs:
    """Return the packed refs in file order."""
    text = _read_packed_text(path)
    refs = [
        PackedRef(name, oid.decode(), peeled.decode() if peeled else None)
        for oid, name, peeled in _PACKED_LINE.findall(text)
    ]
    return PackedRefs(refs, b" fully-peeled" in text.partition(b"\n")[0])


def format_packed_refs(refs: list[PackedRef]) -> bytes:
    """Format a packed-refs file of these refs; each must be fully peeled."""
    lines = [b"# pack-refs with: peeled fully-peeled sorted "]
    for ref in sorted(refs):
        lines.append(ref.oid.encode() + b" " + ref.name)
        if ref.peeled is not None:
            lines.append(b"^" + ref.peeled.encode())
    return b"\n".join(lines) + b"\n"


def _read_packed_text(path: Path) -> bytes:
    try:
        return read_current(f"{path}/packed-refs", _ends_a_line, shared=on_shared_disk(path))
    except FileNotFoundError as error:
        if (path / GENERATION).exists():  # Somebody is deleting this copy.
            raise MissingRepository(f"The repository {path.name} was removed") from error
        return b""


def _ends_a_line(text: bytes) -> bool:
    return text.endswith(b"\n")


def _packed_refs_below(path: Path, under: tuple[bytes, ...]) -> dict[bytes, str]:
    """Return the packed refs below the folders; slicing lines takes a third of the time of a regular expression."""
    part = _packed_lines_below(path, under)
    lines = part.split(b"\n")
    # Peeled lines, or refs of other folders in between.
    if sum(part.count(b" " + folder) for folder in under) != len(lines):
        lines = [line for line in lines if line.startswith(under, _NAME_START)]
        part = b"\n".join(lines)
    if not part:
        return {}
    oids = [line[:_OID_LENGTH] for line in part.decode("latin-1").split("\n")]
    return dict(zip([line[_NAME_START:] for line in lines], oids, strict=True))


def _packed_lines_below(path: Path, under: tuple[bytes, ...]) -> bytes:
    """Return the lines from the first to the last ref below the folders; the file is sorted and may be large."""
    text = _read_packed_text(path)
    starts = [position for folder in under if (position := text.find(b" " + folder)) >= 0]
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
    shared = on_shared_disk(path)
    for parent, _, files in os.walk(root + folder.rstrip(b"/"), onerror=_raise_unless_missing):
        for file in files:
            full = parent + b"/" + file
            name = full.removeprefix(root)
            value = _loose_value(full, shared=shared) if is_well_formed_ref(name) else None
            if value is not None:
                yield name, value


def _raise_unless_missing(error: OSError) -> None:
    """Raise the error of a folder that could not be listed: its refs must not seem to be deleted."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _loose_value(file: bytes, *, shared: bool) -> bytes | None:
    """Return the content of a loose ref file, or None if it is missing or invalid; git ignores invalid ones too."""
    try:
        value = read_current(file, _is_valid_value, shared=shared).strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise
    return value if _is_valid_value(value) else None


def _is_valid_value(text: bytes) -> bool:
    return bool(_OID.fullmatch(text.strip()) or text.startswith(_SYMBOLIC))


@repeated_when_stale
def await_refs(path: Path, refs: Iterable[str] | None = None) -> None:
    """Wait until git reads the current values of these refs, or of all, on a disk that several machines share."""
    if not on_shared_disk(path):
        return
    read_head(path)
    _read_packed_text(path)
    names = (name for name, _ in _loose_values(path, b"refs/")) if refs is None else map(os.fsencode, refs)
    for name in names:
        file = os.fsencode(path) + b"/" + name
        if _loose_value(file, shared=True) is None:
            continue
        for pause in RETRY_PAUSES:
            with open(file, "rb") as handle:  # noqa: PTH123 - The name is bytes, which Path does not accept.
                if _is_valid_value(handle.read(4096)):
                    break
            time.sleep(pause)
