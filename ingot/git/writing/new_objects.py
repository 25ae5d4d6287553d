"""New git objects: created in memory, so that a rejected change leaves nothing behind, then written durably."""

import hashlib
import re
import secrets
import shutil
import struct
import zlib
from typing import Literal

from ingot.core.storage.folders import sync_folder
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitStorageFull, lacks_space, noticing_removal
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Signature

Kind = Literal["commit", "tree", "blob"]
_NUMBERS: dict[Kind, int] = {"commit": 1, "tree": 2, "blob": 3}
_MAX_LOOSE_OBJECTS = 40
"""More objects are written as one pack, whose two files are synced faster."""
_MAX_LOOSE_BYTES = 2**20
"""libgit2 compresses and hashes a large object without releasing the GIL; the pack is built without it."""
_TIMEOUT_SECONDS = 300.0
_STRICT_FSCK = "--strict=zeroPaddedFilemode=ignore"
"""An old mistake that unchanged entries next to the new ones may contain."""
_MAX_OFFSET_MINUTES = 99 * 60 + 59
_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f<>]+")
_STRIPPED_FROM_NAMES = " .,:;\"'\\"


class InvalidObjects(Exception):
    """git's object checks reject these objects."""


class NewObjects:
    """Objects under construction, in dependency order."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Kind, bytes]] = {}

    def add(self, kind: Kind, content: bytes) -> str:
        """Add an object; return its id."""
        digest = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)), usedforsecurity=False)
        digest.update(content)
        oid = digest.hexdigest()
        self._made.setdefault(oid, (kind, content))
        return oid

    def store(self, repository: Repository, *, checked: bool = False) -> None:
        """Write the missing objects and return when they are on disk; ``checked`` runs git's object checks first."""
        with noticing_removal(repository.path):
            self._store(repository, checked=checked)

    def _store(self, repository: Repository, *, checked: bool) -> None:
        handle = open_repository(repository.path)
        # libgit2 always reports the empty tree as present, but git does not.
        missing = [entry for oid, entry in self._made.items() if not entry[1] or oid not in handle]
        if (
            checked
            or len(missing) > _MAX_LOOSE_OBJECTS
            or any(len(content) > _MAX_LOOSE_BYTES for _, content in missing)
        ):
            _write_pack(repository, missing)
            return
        for kind, content in missing:
            write_object(repository, kind, content)


def write_object(repository: Repository, kind: Kind, content: bytes) -> str:
    """Write a loose object; return its id when it is on disk."""
    handle = open_repository(repository.path)
    pygit2 = pygit2_module()
    number = pygit2.enums.ObjectType(_NUMBERS[kind])
    try:
        try:
            return str(handle.write(number, content))
        except (OSError, KeyError):
            # Housekeeping may have removed the empty folder just before the object was written.
            return str(handle.write(number, content))
    except pygit2.GitError as error:
        # libgit2 gives no reason when only a part of an object fits on the disk.
        if lacks_space(repository.path, len(content)):
            raise GitStorageFull("write", 0, str(error)) from error
        raise


def _write_pack(repository: Repository, objects: list[tuple[Kind, bytes]]) -> None:
    if not objects:
        return
    pack = bytearray(struct.pack(">4sII", b"PACK", 2, len(objects)))
    for kind, content in objects:
        pack += _header(_NUMBERS[kind], len(content)) + zlib.compress(content, 1)
    pack += hashlib.sha1(pack, usedforsecurity=False).digest()
    # Written to a separate folder first, as for pushes: git reads the pack only after its files are in place.
    quarantine = repository.path / "objects" / f"incoming-{secrets.token_hex(8)}"
    env = {"GIT_OBJECT_DIRECTORY": str(quarantine), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(quarantine.parent)}
    (quarantine / "pack").mkdir(parents=True)
    try:
        run_git(
            ["index-pack", "--stdin", _STRICT_FSCK], repository.path, bytes(pack), timeout=_TIMEOUT_SECONDS, env=env
        )
        # The index comes last, because it makes the pack visible to readers.
        for file in sorted((quarantine / "pack").iterdir(), key=lambda file: file.suffix == ".idx"):
            file.rename(quarantine.parent / "pack" / file.name)
        sync_folder(quarantine.parent / "pack")
    except GitError as error:
        if "fsck error" in error.stderr or "in packed object" in error.stderr:
            raise InvalidObjects from error
        raise
    finally:
        shutil.rmtree(quarantine, ignore_errors=True)


def _header(number: int, size: int) -> bytes:
    """Return the header of a packed object: its type and size, four bits of the size first, then seven per byte."""
    header = bytearray([number << 4 | size & 0x0F])
    size >>= 4
    while size:
        header[-1] |= 0x80
        header.append(size & 0x7F)
        size >>= 7
    return bytes(header)


def signature_line(signature: Signature) -> str:
    """Format the name, email and time of a signature; characters that could end a field are removed."""
    name, email = (
        _FORBIDDEN_IN_NAMES.sub("", text).strip(_STRIPPED_FROM_NAMES) for text in (signature.name, signature.email)
    )
    sign, minutes = "-" if signature.offset < 0 else "+", min(abs(signature.offset), _MAX_OFFSET_MINUTES)
    return (
        f"{name or email or 'unknown'} <{email}> {max(signature.time, 0)} {sign}{minutes // 60:02d}{minutes % 60:02d}"
    )
