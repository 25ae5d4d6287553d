"""What a change of a reference brought, told in a few words."""

from itertools import islice

import msgspec

from ingot.git.commits import NO_OID, commit_id, commit_or_none
from ingot.git.library import library, open_repository
from ingot.git.repository import Repository
from ingot.git.updating import RefUpdate

MOST_COUNTED = 1000
"""So many commits are counted; a push that brings more brings many."""


class Brought(msgspec.Struct, frozen=True):
    """How many commits are new, and the title of the one that the reference leads to now."""

    commits: int = 0
    title: str | None = None


def what_came(repository: Repository, update: RefUpdate, default_branch: str) -> Brought:
    """What a change that has happened brought; of a new branch, what the default branch does not have."""
    tip = None if update.deletes else commit_id(repository, update.new)
    commit = commit_or_none(repository, tip) if tip else None
    if commit is None:
        return Brought()
    if update.branch is None:
        return Brought(0, commit.title)
    known = update.old
    if update.creates and update.branch != default_branch:
        known = repository.tip(f"refs/heads/{default_branch}") or NO_OID
    return Brought(_count(repository, commit.oid, known), commit.title)


def _count(repository: Repository, tip: str, known: str) -> int:
    walk = open_repository(repository.path).walk(tip)
    if known != NO_OID:
        try:
            walk.hide(known)
        except (KeyError, ValueError, library().GitError):  # What was there before is gone: then all of it is new.
            pass
    return sum(1 for _ in islice(walk, MOST_COUNTED))
