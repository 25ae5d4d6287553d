"""Changing references: all of them or none, each only from the value that it was expected to have."""

import os
import re
import time
from collections.abc import Iterable, Sequence

import msgspec

from ingot.git.command import run_git
from ingot.git.commits import NO_OID
from ingot.git.faults import GitFailed
from ingot.git.heads import settle_head
from ingot.git.names import well_formed
from ingot.git.refs import read_refs
from ingot.git.repository import Repository

STALE_LOCK_SECONDS = 15.0
"""git locks a reference for moments; a killed one leaves the lock, and nobody could change the reference any more."""
_TIMEOUT_SECONDS = 120.0
_WAIT_FOR_LOCKS = ("core.filesRefLockTimeout", "2000")
"""In milliseconds; its own default is shorter than a busy disk takes for one change."""
_LOCKED = re.compile(r"Unable to create '.*\.lock': File exists")
_MOVED = re.compile(r"is at [0-9a-f]{40} but expected|reference already exists|unable to resolve reference")
_IN_THE_WAY = re.compile(r"' exists; cannot create '")


class RefUpdate(msgspec.Struct, frozen=True, array_like=True):
    """One reference by its full name: from which object to which; zeros where there is none."""

    ref: str
    old: str
    new: str

    @property
    def creates(self) -> bool:
        """Whether it was not there before."""
        return self.old == NO_OID

    @property
    def deletes(self) -> bool:
        """Whether it is not there any more."""
        return self.new == NO_OID

    @property
    def branch(self) -> str | None:
        """The short name, where it is a branch."""
        return self.ref.removeprefix("refs/heads/") if self.ref.startswith("refs/heads/") else None

    @property
    def tag(self) -> str | None:
        """The short name, where it is a tag."""
        return self.ref.removeprefix("refs/tags/") if self.ref.startswith("refs/tags/") else None


class RefMoved(Exception):
    """A reference has another value than was expected: somebody else was first."""


class RefInTheWay(Exception):
    """A name is the beginning of another one, as ``a`` and ``a/b``: git can hold only one of them.

    ``wanted`` and ``other`` are their full names, where whatever was in the way is still there.
    """

    def __init__(self, wanted: str = "", other: str = "") -> None:
        super().__init__(f"{other} is in the way of {wanted}")
        self.wanted = wanted
        self.other = other


def update_refs(repository: Repository, updates: Sequence[RefUpdate]) -> None:
    """Change references in one transaction; returns when the disk has them."""
    script = b"".join(_line(update) for update in updates)
    try:
        _run(repository, script)
    except GitFailed as error:
        if _MOVED.search(error.said):
            raise RefMoved from error
        if _IN_THE_WAY.search(error.said):
            raise _in_the_way(repository, updates) from error
        if not _LOCKED.search(error.said):
            raise
        if not break_stale_locks(repository, [update.ref for update in updates]):
            raise RefMoved from error  # Somebody has held it for all this time, so it is about to move.
        _run(repository, script)


def _in_the_way(repository: Repository, updates: Sequence[RefUpdate]) -> RefInTheWay:
    """Which two names it is; looked up, since names may hold whatever git writes around them."""
    for update in updates:
        if not update.creates:
            continue
        parts = update.ref.split("/")
        above = ("/".join(parts[:count]) for count in range(3, len(parts)))
        below = (name.decode(errors="replace") for name in read_refs(repository.path, (f"{update.ref}/".encode(),)))
        other = next((name for name in above if repository.tip(name)), None) or next(below, None)
        if other is not None:
            return RefInTheWay(update.ref, other)
    return RefInTheWay()


def _line(update: RefUpdate) -> bytes:
    if not well_formed(update.ref.encode()):
        raise ValueError("A reference cannot be called so")
    if update.deletes:
        return b"delete %s\0%s\0" % (update.ref.encode(), update.old.encode())
    return b"update %s\0%s\0%s\0" % (update.ref.encode(), update.new.encode(), update.old.encode())


def _run(repository: Repository, script: bytes) -> None:
    args = ["update-ref", "--no-deref", "-z", "--stdin"]
    run_git(args, repository.path, input=script, timeout=_TIMEOUT_SECONDS, config=[_WAIT_FOR_LOCKS])


def break_stale_locks(repository: Repository, refs: Iterable[str]) -> list[str]:
    """Remove locks that killed processes left on these references; gives their names."""
    broken = []
    for name in (*refs, "packed-refs"):
        lock = os.fsencode(repository.path) + b"/" + name.encode() + b".lock"
        try:
            if time.time() - os.stat(lock).st_mtime > STALE_LOCK_SECONDS:  # noqa: PTH116 - The name is bytes.
                os.unlink(lock)  # noqa: PTH108 - The name is bytes here too.
                broken.append(name)
        except OSError:
            continue
    return broken


def adopt_head(repository: Repository, created: Sequence[str]) -> str:
    """Let HEAD follow one of the first branches of a repository; gives the branch that HEAD points to.

    Of several who create the first ones at once, whoever comes later finds that HEAD has its branch.
    """
    head = repository.head_branch()
    if not created or repository.branch_exists(head):
        return head
    chosen = next((name for name in ("main", "master") if name in created), created[0])

    def wanted() -> str | None:
        return None if repository.branch_exists(repository.head_branch()) else chosen

    return settle_head(repository, wanted) or head
