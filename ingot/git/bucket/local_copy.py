"""Copy of a repository on the disk of a node: packs from the bucket, refs from rows, and the generation of both.

The server and git work with the directories that ``CopyCache.local`` holds. The files of the cache, which anybody may
delete at any time, are further links to the packs and refs of such a directory, and nobody but this package reads them.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from ingot.git.bucket.service import UploadedPack
from ingot.git.bucket.tables import StoredPack, StoredRef
from ingot.git.bucket.use_lock import USE_SUFFIX
from ingot.git.core.errors import DamagedRepository
from ingot.git.core.layout import GENERATION, make_bare_repository
from ingot.git.core.refs import PackedRef, format_packed_refs, read_head, read_packed_refs
from ingot.git.core.shared_disks import file_lock

P = TypeVar("P", bound=StoredPack | UploadedPack)
_STAGED_REFS = "keep/import"
"""Refs of an import that is running, below ``refs``."""
_USED_SECONDS = 10.0
"""Interval in which the time of the last use is recorded."""
_LEFTOVER_SECONDS = 6 * 3600
"""Longer than any push takes from its first object to the commit."""


class LocalCopy:
    """Directory of a bare repository, which may be missing or outdated."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def packs(self) -> Path:
        """Return the folder of the packs."""
        return self.path / "objects" / "pack"

    def generation(self) -> int:
        """Return the generation that the copy has; record that it is used.

        It is 0 also for a copy of an earlier start of the machine, whose files are then compared with the rows: nothing
        waits until they are on the disk. The same holds for a copy of which somebody has deleted files.
        """
        file = f"{self.path}/{GENERATION}"
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            if time.time() - os.fstat(descriptor).st_mtime > _USED_SECONDS:
                os.utime(descriptor)
            os.stat(f"{self.path}/packed-refs")  # noqa: PTH116 - A Path costs more than the call.
            number, _, boot = os.read(descriptor, 80).decode().strip().partition(" ")
            return int(number) if boot == _boot() else 0
        except (ValueError, FileNotFoundError):  # A power failure.
            return 0
        finally:
            os.close(descriptor)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let one thread of all processes of this node change the copy. The file is outside of it, which may vanish."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file_lock(self.path.with_suffix(".lock")):
            yield

    def create(self) -> None:
        """Create the directory, unless it is complete; its HEAD is written with the refs.

        The packs that an incomplete one has, such as those of an interrupted download, are kept.
        """
        if all((self.path / name).exists() for name in (GENERATION, "HEAD", "packed-refs", "objects/pack")):
            return
        remains, folder = (self.path.parent / f"{self.path.stem}.{secrets.token_hex(8)}.tmp" for _ in range(2))
        folder.mkdir(mode=0o700)
        make_bare_repository(folder, b"refs/heads/master")
        with suppress(FileNotFoundError):
            self.path.rename(remains)  # At once: git may create files in it while it is being removed.
        for file in _files_in(remains / "objects/pack"):
            with suppress(OSError):  # It was deleted meanwhile; the pack is downloaded.
                os.link(file, folder / "objects/pack" / file.name)
        folder.rename(self.path)
        shutil.rmtree(remains, ignore_errors=True)

    def pack_names(self) -> set[str]:
        """Return the names of the complete packs."""
        return {file.stem for file in _files_in(self.packs) if file.suffix == ".idx"}

    def missing_packs(self, packs: Iterable[P]) -> list[P]:
        """Return those of the packs that it lacks; after a start of the machine, also those that are cut off."""
        names, may_be_cut = self._pack_files(), not self.generation()
        return [
            pack for pack in packs if not names.issuperset(_files_of(pack)) or (may_be_cut and not self._is_whole(pack))
        ]

    def link_pack(self, pack: StoredPack | UploadedPack, other: "LocalCopy") -> bool:
        """Link a pack of another copy, its index last; return False if that has none, or not on the same disk."""
        if not other._is_whole(pack):
            return False
        try:
            for name in _files_of(pack):
                (self.packs / name).unlink(missing_ok=True)
                os.link(other.packs / name, self.packs / name)
        except OSError:  # It was removed meanwhile; the pack is downloaded.
            return False
        return True

    def take_refs(self, other: "LocalCopy") -> int:
        """Begin with the refs that another copy of the repository has; return their generation, 0 if it has none."""
        generation = other.generation()
        try:
            if generation:
                self._link("packed-refs", other)
        except OSError:  # They were deleted meanwhile; all refs are read from rows.
            return 0
        return generation

    def keep(self, other: "LocalCopy", packs: Sequence[StoredPack | UploadedPack]) -> None:
        """Have exactly the refs and packs of another copy; files that are deleted meanwhile are missing."""
        self.packs.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in self._pack_files() - {name for pack in packs for name in _files_of(pack)}:
            (self.packs / name).unlink(missing_ok=True)
        for pack in self.missing_packs(packs):
            self.link_pack(pack, other)
        for name in ("packed-refs", GENERATION):
            self._link(name, other)

    def has_loose_objects(self) -> bool:
        """Return whether git or the server has written objects that are in no pack."""
        return any(True for _ in self._loose_objects())

    def write_refs(self, refs: Sequence[StoredRef], head: str, *, is_complete: bool) -> None:
        """Replace packed-refs, with all refs or with the changed ones, and HEAD."""
        self._remove_loose_refs()
        if refs or is_complete:
            current = {} if is_complete else {ref.name: ref for ref in read_packed_refs(self.path).refs}
            for ref in refs:
                name = ref.name.encode()
                if ref.oid:
                    current[name] = PackedRef(name, ref.oid, ref.peeled)
                else:
                    current.pop(name, None)
            self._replace("packed-refs", format_packed_refs(list(current.values())))
        content = b"refs/heads/" + head.encode()
        try:
            unchanged = read_head(self.path) == content
        except DamagedRepository:  # It is written again.
            unchanged = False
        if not unchanged:
            self._replace("HEAD", b"ref: " + content + b"\n")

    def finish(self, generation: int) -> None:
        """Record the generation that the copy has now."""
        self._replace(GENERATION, f"{generation} {_boot()}\n".encode())

    def forget(self) -> None:
        """Treat the copy as outdated, so that all its refs are written again."""
        self.finish(0)

    def committed_tips(self) -> set[str]:
        """Return the objects of all refs that are in rows."""
        return {ref.oid for ref in read_packed_refs(self.path).refs}

    def remove_loose_objects(self, oids: Iterable[str]) -> None:
        """Remove the files of objects that are in a pack now."""
        for oid in oids:
            (self.path / "objects" / oid[:2] / oid[2:]).unlink(missing_ok=True)

    def remove_leftovers(self, listed: set[str]) -> None:
        """Remove packs and objects that no row has, if they are old and git serves no client from the copy."""
        with file_lock(self.path.with_suffix(USE_SUFFIX), wait=False) as is_unused:
            if is_unused:
                self._remove_leftovers(listed, time.time() - _LEFTOVER_SECONDS)

    def _pack_files(self) -> set[str]:
        try:
            return set(os.listdir(self.packs))  # noqa: PTH208 - Paths of many packs cost more than the call.
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def _is_whole(self, pack: StoredPack | UploadedPack) -> bool:
        sizes = (pack.pack_bytes, pack.index_bytes)
        return all(self._size(name) == size for name, size in zip(_files_of(pack), sizes, strict=True))

    def _size(self, name: str) -> int:
        try:
            return (self.packs / name).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return -1

    def _remove_leftovers(self, listed: set[str], cutoff: float) -> None:
        packs = [
            file for file in _files_in(self.packs) if file.stem not in listed and not file.name.startswith("multi")
        ]
        for file in (*sorted(packs, key=lambda file: file.suffix != ".idx"), *self._loose_objects()):
            try:
                if file.stat().st_mtime < cutoff:
                    file.unlink()
            except FileNotFoundError:  # Another process has removed it.
                continue

    def _loose_objects(self) -> Iterator[Path]:
        for folder in _files_in(self.path / "objects"):
            if len(folder.name) == 2:
                yield from (file for file in _files_in(folder) if not file.name.startswith("tmp_"))

    def _remove_loose_refs(self) -> None:
        """Remove refs that git has written itself; those of rows are all in packed-refs."""
        root = str(self.path / "refs")
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if os.path.relpath(f"{folder}/{name}", root) != _STAGED_REFS]
            for name in files:
                Path(folder, name).unlink(missing_ok=True)

    def _link(self, name: str, other: "LocalCopy") -> None:
        temporary = self.path / f"tmp_{name}_{secrets.token_hex(8)}"
        os.link(other.path / name, temporary)
        temporary.rename(self.path / name)
        temporary.unlink(missing_ok=True)  # The rename does nothing if both are the same file.

    def _replace(self, name: str, content: bytes) -> None:
        temporary = self.path / f"tmp_{name}_{secrets.token_hex(8)}"
        temporary.write_bytes(content)
        temporary.rename(self.path / name)


def _files_of(pack: StoredPack | UploadedPack) -> tuple[str, str]:
    """Return the names of a pack and its index, in this order."""
    return f"{pack.name}.pack", f"{pack.name}.idx"


@cache
def _boot() -> str:
    """Return what tells this start of the machine from others; empty where there is no such file."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # Only Linux has it.
        return ""


def _files_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
