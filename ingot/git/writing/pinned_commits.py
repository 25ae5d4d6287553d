"""Commits that stay readable when branches change, each pinned by an internal ref."""

from collections.abc import Sequence

from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs

_MAX_ATTEMPTS = 5


def pin_ref(oid: str) -> str:
    """Return the ref that pins a commit."""
    return f"refs/keep/{oid}"


def pin_commits(repository: Repository, oids: Sequence[str]) -> None:
    """Retain commits with their history; returns when the refs are on disk.

    A ref is named after the only value that it can have, so caches of refs need not be invalidated.
    """
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        missing = [oid for oid in dict.fromkeys(oids) if repository.tip(pin_ref(oid)) is None]
        if not missing:
            return
        try:
            update_refs(repository, [RefUpdate(pin_ref(oid), NO_OID, oid) for oid in missing])
        except (RefMoved, GitError):  # Another process creates one of them at the same time.
            if attempt == _MAX_ATTEMPTS:
                raise
