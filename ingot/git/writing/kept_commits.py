"""Commits that stay readable whatever becomes of branches: each is held by a reference of ours alone."""

from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs

_MAX_ATTEMPTS = 3


def pin_commit(repository: Repository, oid: str) -> None:
    """Hold a commit with all that it leads to; returns when the disk knows.

    The reference is named after the only value that it can have. So it matters to no cache of references, and of
    two who make it at once it is the same who wins.
    """
    ref = f"refs/keep/{oid}"
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        if repository.tip(ref) is not None:
            return
        try:
            update_refs(repository, [RefUpdate(ref, NO_OID, oid)])
        except RefMoved:  # Somebody else has made it just now.
            return
        except GitError:  # Somebody else is making it, and git waits only a moment.
            if attempt == _MAX_ATTEMPTS:
                raise
