"""Updates of many refs at once, written to packed-refs.

git stores each updated ref in a file of its own and syncs every file to disk, which takes milliseconds per ref. Here
one file is synced for all of them. The locks are git's own, so that concurrent git processes wait or fail as usual.
"""

import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Self

from ingot.core.storage.folders import sync_folder
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, noticing_removal
from ingot.git.core.layout import write_durably
from ingot.git.core.names import is_well_formed_ref
from ingot.git.core.refs import HEADS, PackedRef, format_packed_refs, read_packed_refs, read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefMoved, RefNameConflict, RefUpdate, find_name_conflict

_REF_LOCK_SECONDS = 2.0
_PACKED_LOCK_SECONDS = 10.0
_RETRY_SECONDS = 0.01
_PACKED = b"packed-refs"


class InvalidTarget(GitError):
    """The new object of a ref is missing, or is not a commit although the ref is a branch."""

    def __init__(self, ref: str) -> None:
        super().__init__("update-ref", 1, "")
        self.ref = ref


def update_many_refs(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Update refs from their old values, all or none; return when they are on disk.

    Raise ``RefMoved``, ``RefNameConflict`` or ``InvalidTarget``. A process that is killed in between leaves every ref
    at its old or new value, and lock files, which ``break_stale_locks`` removes.
    """
    if repository.ref_store is not None:
        repository.ref_store.update(updates)
        return
    root, names = os.fsencode(repository.path) + b"/", [update.ref.encode() for update in updates]
    if not all(map(is_well_formed_ref, names)):
        raise ValueError("A reference cannot be called so")
    with noticing_removal(repository.path), ExitStack() as stack:
        try:
            stack.enter_context(_lock_folders(root, names))
            locks = stack.enter_context(_LockFiles(root))
            for name in names:
                locks.add(root + name + b".lock", _REF_LOCK_SECONDS)
        except (NotADirectoryError, FileExistsError):  # A part of a name is a ref.
            raise find_name_conflict(repository, updates) from None
        _require_old_values(repository, updates)
        peeled = _peeled_targets(repository, updates)
        locks.add(root + _PACKED + b".lock", _PACKED_LOCK_SECONDS)
        _write_packed_refs(repository, updates, peeled)
        _remove_loose_files(root, updates)


class _LockFiles:
    """Lock files of git, removed at the end; a context manager.

    They are hard links of one file where the file system allows it, which takes a hundredth of the time of new files.
    """

    def __init__(self, root: bytes) -> None:
        self._original = root + b"tmp_lock_" + secrets.token_hex(8).encode()
        self._locks: list[bytes] = []

    def __enter__(self) -> Self:
        self._create(self._original)
        return self

    def __exit__(self, *_: object) -> None:
        for lock in (*self._locks, self._original):
            with suppress(FileNotFoundError):  # Taken for the lock of a process that was killed.
                os.unlink(lock)  # noqa: PTH108 - The name is bytes.

    def add(self, lock: bytes, patience: float) -> None:
        """Create a lock file; raise ``RefMoved`` if another process holds the lock all the time."""
        deadline = time.monotonic() + patience
        while True:
            try:
                self._link(lock)
            except FileExistsError:
                if time.monotonic() > deadline:
                    raise RefMoved from None
                time.sleep(_RETRY_SECONDS)
            except FileNotFoundError:  # Another process has just removed the empty folder.
                os.makedirs(os.path.dirname(lock), exist_ok=True)  # noqa: PTH103, PTH120 - The name is bytes.
            else:
                self._locks.append(lock)
                return

    def _link(self, lock: bytes) -> None:
        try:
            os.link(self._original, lock)
        except (FileExistsError, FileNotFoundError, NotADirectoryError):
            raise
        except OSError:  # The file system has no hard links, or no more for this file.
            self._create(lock)

    def _create(self, file: bytes) -> None:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))


@contextmanager
def _lock_folders(root: bytes, names: Iterable[bytes]) -> Iterator[None]:
    """Create the folders that the locks of these refs need; remove them again if they stay empty."""
    folders: dict[bytes, None] = {}
    try:
        for above in sorted({name.rpartition(b"/")[0] for name in names}):
            for folder in _make_folders(root, above):
                folders[folder] = None
        yield
    finally:
        for folder in sorted(folders, reverse=True):
            try:
                os.rmdir(folder)  # noqa: PTH106 - The name is bytes.
            except OSError:  # Another process has created a ref in it, or has removed it.
                continue


def _make_folders(root: bytes, name: bytes) -> Iterator[bytes]:
    """Create a folder below ``refs`` and the missing ones above it; yield those that were created."""
    parts = name.split(b"/")
    for count in range(2, len(parts) + 1):
        folder = root + b"/".join(parts[:count])
        try:
            os.mkdir(folder)  # noqa: PTH102 - The name is bytes.
        except FileExistsError:
            if not os.path.isdir(folder):  # noqa: PTH112 - The name is bytes.
                raise
        else:
            yield folder


def _require_old_values(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Raise ``RefMoved`` if a ref does not have its old value, ``RefNameConflict`` if ``a`` and ``a/b`` would exist."""
    refs = read_refs(repository.path)
    for update in updates:
        if refs.get(update.ref.encode(), NO_OID) != update.old:
            raise RefMoved
    created = {update.ref.encode() for update in updates if update.creates}
    names = (refs.keys() | created) - {update.ref.encode() for update in updates if update.deletes}
    above: dict[bytes, bytes] = {}
    for name in names:
        folder = name.rpartition(b"/")[0]
        while folder and folder not in above:
            above[folder] = name
            folder = folder.rpartition(b"/")[0]
    for name in above.keys() & names:
        wanted, other = (name, above[name]) if name in created else (above[name], name)
        raise RefNameConflict(wanted.decode(errors="replace"), other.decode(errors="replace"))


def _peeled_targets(repository: Repository, updates: Sequence[RefUpdate]) -> dict[str, str | None]:
    """Return the object that each new object points at if it is an annotated tag; raise ``InvalidTarget``."""
    oids = sorted({update.new for update in updates if not update.deletes})
    types, peeled = object_types(repository, oids)
    for update in updates:
        if update.deletes:
            continue
        kind = types[update.new]
        if kind is None or (kind != "commit" and update.ref.encode().startswith(HEADS)):
            raise InvalidTarget(update.ref)
    return peeled


def object_types(repository: Repository, oids: Sequence[str]) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Return the types of objects (None for a missing one), and the objects that annotated tags point at."""
    if not oids:
        return {}, {}
    lines = "".join(f"{oid}\n{oid}^{{}}\n" for oid in oids).encode()
    args = ["cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"]
    answers = [line.split() for line in run_git(args, repository.path, lines).out.decode().splitlines()]
    types: dict[str, str | None] = {}
    peeled: dict[str, str | None] = {}
    for oid, (_, kind), (target, target_kind) in zip(oids, answers[::2], answers[1::2], strict=True):
        missing = "missing" in (kind, target_kind)
        types[oid] = None if missing else kind
        peeled[oid] = None if missing or target == oid else target
    return types, peeled


def _write_packed_refs(repository: Repository, updates: Sequence[RefUpdate], peeled: dict[str, str | None]) -> None:
    packed = read_packed_refs(repository.path)
    refs = {ref.name: ref for ref in packed.refs}
    if not packed.fully_peeled:
        _, targets = object_types(repository, sorted({ref.oid for ref in packed.refs}))
        refs = {name: ref._replace(peeled=targets[ref.oid]) for name, ref in refs.items()}
    for update in updates:
        name = update.ref.encode()
        if update.deletes:
            refs.pop(name, None)
        else:
            refs[name] = PackedRef(name, update.new, peeled[update.new])
    temporary = repository.path / f"tmp_packed-refs_{secrets.token_hex(8)}"
    try:
        write_durably(temporary, format_packed_refs(list(refs.values())))
        temporary.rename(repository.path / os.fsdecode(_PACKED))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(repository.path)


def _remove_loose_files(root: bytes, updates: Sequence[RefUpdate]) -> None:
    """Remove the files of these refs, which would take precedence; return when that is on disk."""
    folders = set()
    for update in updates:
        file = root + update.ref.encode()
        try:
            os.unlink(file)  # noqa: PTH108 - The name is bytes.
            folders.add(file.rpartition(b"/")[0])
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
            if isinstance(error, PermissionError) and not os.path.isdir(file):  # noqa: PTH112 - The name is bytes.
                raise
    for folder in sorted(folders):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
