"""New objects: made in memory first, so that a refused change leaves nothing behind, then written to last."""

import hashlib
import re
import secrets
import shutil
import struct
import zlib
from typing import Literal

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, noticing_removal
from ingot.git.core.layout import sync_folder
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Signature

Kind = Literal["commit", "tree", "blob"]
_NUMBERS: dict[Kind, int] = {"commit": 1, "tree": 2, "blob": 3}
_MAX_LOOSE_OBJECTS = 40
"""More are written as one pack: its two files are synced to the disk sooner than so many."""
_MAX_LOOSE_BYTES = 2**20
"""The library packs and hashes a large one while every other thread waits; Python and git let them go on."""
_TIMEOUT_SECONDS = 300.0
_STRICT_FSCK = "--strict=zeroPaddedFilemode=ignore"
"""An old slip, which untouched entries beside the new ones may have."""
_MAX_OFFSET_MINUTES = 99 * 60 + 59
_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f<>]+")
_STRIPPED_FROM_NAMES = " .,:;\"'\\"


class InvalidObjects(Exception):
    """git would not let these objects be pushed."""


class NewObjects:
    """Objects under construction, each after those that it names."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Kind, bytes]] = {}

    def add(self, kind: Kind, content: bytes) -> str:
        """Take one up; gives its id."""
        digest = hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)), usedforsecurity=False)
        digest.update(content)
        oid = digest.hexdigest()
        self._made.setdefault(oid, (kind, content))
        return oid

    def store(self, repository: Repository, *, checked: bool = False) -> None:
        """Write what is not there yet; returns when the disk has it. ``checked`` lets git look at it first."""
        with noticing_removal(repository.path):
            self._store(repository, checked=checked)

    def _store(self, repository: Repository, *, checked: bool) -> None:
        handle = open_repository(repository.path)
        # The library claims to have an empty tree wherever it looks, and git does not.
        fresh = [made for oid, made in self._made.items() if not made[1] or oid not in handle]
        if checked or len(fresh) > _MAX_LOOSE_OBJECTS or any(len(content) > _MAX_LOOSE_BYTES for _, content in fresh):
            _write_pack(repository, fresh)
            return
        for kind, content in fresh:
            write_object(repository, kind, content)


def write_object(repository: Repository, kind: Kind, content: bytes) -> str:
    """Write an object by itself; returns its id when the disk has it."""
    handle = open_repository(repository.path)
    number = pygit2_module().enums.ObjectType(_NUMBERS[kind])
    try:
        return str(handle.write(number, content))
    except (OSError, KeyError):
        # Housekeeping removes folders that it has emptied, maybe just before this was to be put into one.
        return str(handle.write(number, content))


def _write_pack(repository: Repository, objects: list[tuple[Kind, bytes]]) -> None:
    if not objects:
        return
    pack = bytearray(struct.pack(">4sII", b"PACK", 2, len(objects)))
    for kind, content in objects:
        pack += _header(_NUMBERS[kind], len(content)) + zlib.compress(content, 1)
    pack += hashlib.sha1(pack, usedforsecurity=False).digest()
    # In a folder aside, as pushes are: git looks at what it may act upon only when its files have their names.
    aside = repository.path / "objects" / f"incoming-{secrets.token_hex(8)}"
    env = {"GIT_OBJECT_DIRECTORY": str(aside), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(aside.parent)}
    (aside / "pack").mkdir(parents=True)
    try:
        run_git(
            ["index-pack", "--stdin", _STRICT_FSCK], repository.path, bytes(pack), timeout=_TIMEOUT_SECONDS, env=env
        )
        # The index comes last, because with it the pack is there for everybody.
        for file in sorted((aside / "pack").iterdir(), key=lambda file: file.suffix == ".idx"):
            file.rename(aside.parent / "pack" / file.name)
        sync_folder(aside.parent / "pack")
    except GitError as error:
        if "fsck error" in error.stderr or "in packed object" in error.stderr:
            raise InvalidObjects from error
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _header(number: int, size: int) -> bytes:
    """What kind of object comes, and how long it is: four bits of that, then seven in each further byte."""
    header = bytearray([number << 4 | size & 0x0F])
    size >>= 4
    while size:
        header[-1] |= 0x80
        header.append(size & 0x7F)
        size >>= 7
    return bytes(header)


def signature_line(person: Signature) -> str:
    """Somebody as git writes them; nothing in a name may look like its end, and one without a name has an address."""
    name, email = (
        _FORBIDDEN_IN_NAMES.sub("", text).strip(_STRIPPED_FROM_NAMES) for text in (person.name, person.email)
    )
    sign, minutes = "-" if person.offset < 0 else "+", min(abs(person.offset), _MAX_OFFSET_MINUTES)
    return f"{name or email or 'unknown'} <{email}> {max(person.time, 0)} {sign}{minutes // 60:02d}{minutes % 60:02d}"
