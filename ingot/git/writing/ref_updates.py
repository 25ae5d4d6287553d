"""Atomic ref updates, each conditional on the expected old value."""

import os
import re
import secrets
from collections.abc import Iterable, Sequence

import msgspec

from ingot.core.storage.folders import sync_folder
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.layout import write_durably
from ingot.git.core.names import is_well_formed_ref
from ingot.git.core.refs import await_refs, read_refs
from ingot.git.core.repository import Repository
from ingot.git.core.shared_disks import now_on_disk
from ingot.git.history.commits import NO_OID
from ingot.git.writing.head import point_head_to

STALE_LOCK_SECONDS = 15.0
"""git holds ref locks only briefly; a killed process leaves its lock file, which would block the ref forever."""
_TIMEOUT_SECONDS = 120.0
_LOCK_TIMEOUT_CONFIG = ("core.filesRefLockTimeout", "2000")
"""In milliseconds; the default is shorter than one update takes on a busy disk."""
_LOCKED_MESSAGE = re.compile(r"Unable to create '.*\.lock': File exists")
_MOVED_MESSAGE = re.compile(r"is at [0-9a-f]{40} but expected|reference already exists|unable to resolve reference")
_CONFLICT_MESSAGE = re.compile(r"' exists; cannot create '")


class RefUpdate(msgspec.Struct, frozen=True, array_like=True):
    """Update of one ref by its full name, from an old object to a new one; zeros mean that it does not exist."""

    ref: str
    old: str
    new: str

    @property
    def creates(self) -> bool:
        """Return whether the ref is created."""
        return self.old == NO_OID

    @property
    def deletes(self) -> bool:
        """Return whether the ref is deleted."""
        return self.new == NO_OID

    @property
    def branch(self) -> str | None:
        """Return the short name if it is a branch."""
        return self.ref.removeprefix("refs/heads/") if self.ref.startswith("refs/heads/") else None

    @property
    def tag(self) -> str | None:
        """Return the short name if it is a tag."""
        return self.ref.removeprefix("refs/tags/") if self.ref.startswith("refs/tags/") else None


class RefMoved(Exception):
    """A ref has another value than expected: a concurrent update was first."""


class RefNameConflict(Exception):
    """A name is a prefix of another one, such as ``a`` and ``a/b``: git can store only one of them.

    ``wanted`` and ``other`` are their full names, if the conflicting ref still exists.
    """

    def __init__(self, wanted: str = "", other: str = "") -> None:
        super().__init__(f"{other} is in the way of {wanted}")
        self.wanted = wanted
        self.other = other


def update_refs(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Update refs in one transaction; returns when they are on disk. Raise ``RefMoved`` or ``RefNameConflict``."""
    if repository.ref_store is not None:
        if not all(is_well_formed_ref(update.ref.encode()) for update in updates):
            raise ValueError("A reference cannot be called so")
        repository.ref_store.update(updates)
        return
    script = b"".join(_command_line(update) for update in updates)
    await_refs(repository.path, [update.ref for update in updates])
    try:
        _run_update_ref(repository, script)
    except GitError as error:
        if _MOVED_MESSAGE.search(error.stderr):
            raise RefMoved from error
        if _CONFLICT_MESSAGE.search(error.stderr):
            raise find_name_conflict(repository, updates) from error
        if not _LOCKED_MESSAGE.search(error.stderr):
            raise
        if not break_stale_locks(repository, [update.ref for update in updates]):
            raise RefMoved from error  # Another process has held the lock all this time, so the ref is about to move.
        _run_update_ref(repository, script)
    sync_refs(repository, updates)


def create_ref(repository: Repository, ref: str, oid: str) -> None:
    """Create a ref and return when its content is on disk; raise ``RefMoved`` if it exists.

    The file is written without git, which takes a tenth of the time. So this is only for names that no user can choose,
    next to which no ref can be in the way.
    """
    if repository.ref_store is not None:
        update_refs(repository, [RefUpdate(ref, NO_OID, oid)])
        return
    if repository.tip(ref) is not None:
        raise RefMoved
    file = repository.path / ref
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = repository.path / f"tmp_ref_{secrets.token_hex(8)}"
    write_durably(temporary, f"{oid}\n".encode())
    try:
        file.hardlink_to(temporary)
    except FileExistsError:
        raise RefMoved from None
    except OSError:  # The file system has no hard links, or git has just removed the empty folder.
        update_refs(repository, [RefUpdate(ref, NO_OID, oid)])
    finally:
        temporary.unlink()


def sync_refs(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Sync the names of updated refs, and of the objects written before them, to disk; git syncs only the contents.

    The folder that changed last is enough: journals preserve the order. Deletions replace the file of packed refs.
    """
    kept = [update.ref for update in updates if not update.deletes]
    folders = [(repository.path / kept[-1]).parent] if kept else []
    if len(kept) < len(updates):
        folders.append(repository.path)
    for folder in folders:
        try:
            sync_folder(folder)
        except FileNotFoundError:  # The ref or the whole repository has just been deleted by another request.
            continue


def find_name_conflict(repository: Repository, updates: Sequence[RefUpdate]) -> RefNameConflict:
    """Find the two conflicting names. They are looked up because git's message cannot be parsed reliably."""
    for update in updates:
        if not update.creates:
            continue
        parts = update.ref.split("/")
        above = ("/".join(parts[:count]) for count in range(3, len(parts)))
        below = (name.decode(errors="replace") for name in read_refs(repository.path, (f"{update.ref}/".encode(),)))
        other = next((name for name in above if repository.tip(name)), None) or next(below, None)
        if other is not None:
            return RefNameConflict(update.ref, other)
    return RefNameConflict()


def _command_line(update: RefUpdate) -> bytes:
    if not is_well_formed_ref(update.ref.encode()):
        raise ValueError("A reference cannot be called so")
    if update.deletes:
        return b"delete %s\0%s\0" % (update.ref.encode(), update.old.encode())
    return b"update %s\0%s\0%s\0" % (update.ref.encode(), update.new.encode(), update.old.encode())


def _run_update_ref(repository: Repository, script: bytes) -> None:
    args = ["update-ref", "--no-deref", "-z", "--stdin"]
    run_git(args, repository.path, input=script, timeout=_TIMEOUT_SECONDS, config=[_LOCK_TIMEOUT_CONFIG])


def break_stale_locks(repository: Repository, refs: Iterable[str]) -> list[str]:
    """Remove lock files that killed processes left on these refs; return their names."""
    broken = []
    now = now_on_disk(repository.path)
    for name in (*refs, "packed-refs"):
        lock = _lock_file(repository, name)
        try:
            if now - os.stat(lock).st_mtime > STALE_LOCK_SECONDS:  # noqa: PTH116 - The name is bytes.
                os.unlink(lock)  # noqa: PTH108 - The name is bytes here too.
                broken.append(name)
        except OSError:  # There is no lock, or another process has just removed it; otherwise git reports it.
            continue
    return broken


def locked_refs(repository: Repository, refs: Iterable[str]) -> list[str]:
    """Return those of the refs that have a lock file."""
    return [name for name in refs if os.path.lexists(_lock_file(repository, name))]


def _lock_file(repository: Repository, name: str) -> bytes:
    return os.fsencode(repository.path) + b"/" + name.encode() + b".lock"


def choose_first_head(created: Sequence[str]) -> str:
    """Return the branch for HEAD among the first branches of a repository."""
    return next((name for name in ("main", "master") if name in created), created[0])


def set_first_head(repository: Repository, created: Sequence[str]) -> str:
    """Point HEAD at one of the first branches of a repository; return the branch that it points at.

    Of several concurrent pushes of first branches, only one changes HEAD.
    """
    head = repository.head_branch()
    if not created or repository.branch_exists(head):
        return head
    chosen = choose_first_head(created)

    def unless_head_exists() -> str | None:
        return None if repository.branch_exists(repository.head_branch()) else chosen

    return point_head_to(repository, unless_head_exists) or head
