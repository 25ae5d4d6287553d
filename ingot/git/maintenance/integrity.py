"""Integrity checks of a repository: HEAD, refs, packs and the objects that they need."""

import hashlib
import os
import re
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path

from ingot.core.storage.folders import sync_folder
from ingot.git.core.command import run_git
from ingot.git.core.errors import DamagedRepository, GitError
from ingot.git.core.layout import CONFIG, write_durably
from ingot.git.core.refs import read_head, read_refs

CONNECTIVITY_SECONDS = 4 * 3600.0
_CHECKSUM_BYTES = 20
_OID_LENGTH = 40
_REF_VALUE = re.compile(rb"[0-9a-f]{40}|ref: refs/\S.*")
_OID = re.compile(r"[0-9a-f]{40}")
_CHUNK_BYTES = 2**20
_MAX_NAMES_LISTED = 3
_MAX_MESSAGE_LENGTH = 200
# A multi-pack index or commit graph would report objects that no longer exist.
_NO_SHORTCUT_FILES = (("core.commitGraph", "false"), ("core.multiPackIndex", "false"))


def find_problems(path: Path, *, deep: bool, contents: bool = True) -> list[str]:
    """List the problems of a repository, one line each.

    Always checks HEAD, the refs, the objects that they point at, and whether the checksum of each pack matches its
    index, which detects truncated packs. ``contents`` reads all packs, indexes and loose objects and compares them with
    their checksums. ``deep`` follows the refs to every object that they need.
    """
    problems = []
    try:
        read_head(path)
    except DamagedRepository:  # The doctor reports it.
        problems.append("HEAD cannot be read")
    problems += _problems_by_name("cannot be read", sorted(_unreadable_refs(path)))
    mismatched = list(_corrupt_packs(path / "objects" / "pack"))
    problems += [f"{pack} does not match its index" for pack in mismatched]
    if contents:
        altered = [file.name for file in _altered_packs(path / "objects" / "pack") if file.name not in mismatched]
        problems += [f"the content of {name} does not match its checksum" for name in altered]
        problems += [f"the object {oid} is damaged" for oid in _altered_objects(path / "objects")]
    refs = read_refs(path)
    if not refs:
        return problems
    try:
        missing = _refs_with_missing_objects(path, refs)
        problems += _problems_by_name("points at a missing object", missing)
        if deep and not missing:
            _check_connectivity(path, refs)
    except GitError as error:
        problems.append(f"git cannot read it: {_last_line(error.stderr) or error}")
    except OSError as error:
        problems.append(f"git cannot be run in it: {error.strerror}")
    return problems


def has_our_config(path: Path) -> bool:
    """Return whether the repository has the current configuration."""
    try:
        return (path / "config").read_bytes() == CONFIG
    except OSError:  # An unreadable file counts as different; the doctor reports it.
        return False


def restore_config(path: Path) -> None:
    """Write the current configuration atomically."""
    temporary = path / f"tmp_config_{secrets.token_hex(8)}"
    write_durably(temporary, CONFIG)
    temporary.rename(path / "config")
    sync_folder(path)


def _refs_with_missing_objects(path: Path, refs: dict[bytes, str]) -> list[bytes]:
    """Return the refs whose objects are missing."""
    oids = sorted(set(refs.values()))
    revisions = "".join(f"{oid}\n" for oid in oids).encode()
    result = run_git(
        ["cat-file", "--batch-check=%(objectname)", "--buffer"],
        path,
        revisions,
        600.0,
        config=_NO_SHORTCUT_FILES,
        max_memory=None,
    )
    existing = {line[:_OID_LENGTH].decode() for line in result.out.splitlines() if len(line) == _OID_LENGTH}
    return [name for name, oid in refs.items() if oid not in existing]


def _check_connectivity(path: Path, refs: dict[bytes, str]) -> None:
    revisions = "".join(f"{oid}\n" for oid in sorted(set(refs.values()))).encode()
    run_git(
        ["rev-list", "--objects", "--quiet", "--stdin"],
        path,
        revisions,
        CONNECTIVITY_SECONDS,
        config=_NO_SHORTCUT_FILES,
        max_memory=None,
    )


def _unreadable_refs(path: Path) -> Iterator[bytes]:
    root = os.fsencode(path) + b"/"
    for folder, _, files in os.walk(root + b"refs"):
        for file in files:
            if file.endswith(b".lock"):
                continue
            try:
                value = Path(os.fsdecode(folder + b"/" + file)).read_bytes().strip()
            except FileNotFoundError:  # It has just been packed or deleted.
                continue
            if not _REF_VALUE.fullmatch(value):
                yield (folder + b"/" + file).removeprefix(root)


def _corrupt_packs(folder: Path) -> Iterator[str]:
    for index in sorted(folder.glob("pack-*.idx")):
        pack = index.with_suffix(".pack")
        try:
            checksum = _last_bytes(index, 2 * _CHECKSUM_BYTES)[:_CHECKSUM_BYTES]
            matches = checksum == _last_bytes(pack, _CHECKSUM_BYTES) and len(checksum) == _CHECKSUM_BYTES
        except FileNotFoundError:  # A repack may have just replaced both, but never the pack alone.
            matches = not index.exists()
        if not matches:
            yield pack.name


def _altered_packs(folder: Path) -> Iterator[Path]:
    """Yield the packs and indexes whose content does not match the checksum at their end."""
    for file in sorted(folder.glob("pack-*")):
        if file.suffix not in (".pack", ".idx"):
            continue
        digest = hashlib.sha1(usedforsecurity=False)
        held = b""
        try:
            with file.open("rb") as handle:
                while chunk := handle.read(_CHUNK_BYTES):
                    held += chunk
                    digest.update(held[:-_CHECKSUM_BYTES])
                    held = held[-_CHECKSUM_BYTES:]
        except FileNotFoundError:  # A repack has just replaced it.
            continue
        except OSError:  # A disk that cannot be read is a damage too.
            held = b""
        if digest.digest() != held:
            yield file


def _altered_objects(folder: Path) -> Iterator[str]:
    """Yield the ids of loose objects whose content does not match their id."""
    for file in sorted(folder.glob("[0-9a-f][0-9a-f]/*")):
        oid = file.parent.name + file.name
        if not _OID.fullmatch(oid):
            continue
        digest, stream = hashlib.sha1(usedforsecurity=False), zlib.decompressobj()
        try:
            with file.open("rb") as handle:
                while chunk := handle.read(_CHUNK_BYTES):
                    digest.update(stream.decompress(chunk))
        except FileNotFoundError:  # Housekeeping has just packed it.
            continue
        except (OSError, zlib.error):  # The digest of what was read does not match then.
            digest.update(b"\0")
        if digest.hexdigest() != oid or not stream.eof:
            yield oid


def _last_bytes(file: Path, length: int) -> bytes:
    with file.open("rb") as handle:
        handle.seek(max(0, handle.seek(0, os.SEEK_END) - length))
        return handle.read()


def _problems_by_name(problem: str, names: list[bytes]) -> list[str]:
    shown = [f"{name.decode(errors='replace')} {problem}" for name in names[:_MAX_NAMES_LISTED]]
    more = len(names) - len(shown)
    return [*shown, f"and {more} more references"] if more else shown


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1][:_MAX_MESSAGE_LENGTH] if lines else ""
