"""Commits that stay readable when branches change, each retained by an internal ref."""

from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs

_MAX_ATTEMPTS = 3


def pin_commit(repository: Repository, oid: str) -> None:
    """Retain a commit with its history; returns when the ref is on disk.

    The ref is named after the only value that it can have, so caches of refs need not be invalidated, and concurrent
    creations do not conflict.
    """
    ref = f"refs/keep/{oid}"
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        if repository.tip(ref) is not None:
            return
        try:
            update_refs(repository, [RefUpdate(ref, NO_OID, oid)])
        except RefMoved:  # Another process has just created it.
            return
        except GitError:  # Another process holds the lock, and git waits only briefly.
            if attempt == _MAX_ATTEMPTS:
                raise
