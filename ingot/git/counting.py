"""What a change of a reference brought, told in a few words."""

from itertools import islice
from typing import Any

import msgspec

from ingot.git.commits import NO_OID, Signature, commit_id, commit_message, commit_or_none, encoding_of, signature_of
from ingot.git.library import library, open_repository
from ingot.git.repository import Repository
from ingot.git.updating import RefUpdate

MOST_COUNTED = 1000
"""So many commits are counted; a push that brings more brings many."""


MOST_READ = 100
"""Of so many of them, the newest, it is known what they say."""
LONGEST_READ = 200_000
"""As long as they do not say more than this altogether."""


class Message(msgspec.Struct, frozen=True):
    """What a commit says, and who said it."""

    oid: str
    text: str
    author: Signature | None = None
    committed_at: str = ""


class Brought(msgspec.Struct, frozen=True):
    """How many commits are new, the title of the one that the reference leads to now, and what the newest say."""

    commits: int = 0
    title: str | None = None
    messages: tuple[Message, ...] = ()
    """The oldest of them first; fewer than there are commits where these are very many, or say very much."""


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
    return _look_through(repository, commit.oid, known, commit.title)


def _look_through(repository: Repository, tip: str, known: str, title: str) -> Brought:
    walk = open_repository(repository.path).walk(tip)
    if known != NO_OID:
        try:
            walk.hide(known)
        except (KeyError, ValueError, library().GitError):  # What was there before is gone: then all of it is new.
            pass
    count, length, messages = 0, 0, []
    for count, found in enumerate(islice(walk, MOST_COUNTED), 1):
        if count <= MOST_READ and length <= LONGEST_READ:
            length += len(found.raw_message)
            messages.append(found)
    if length > LONGEST_READ:
        messages.pop()
    return Brought(count, title, tuple(_message(found) for found in reversed(messages)))


def _message(found: Any) -> Message:
    author, committer = signature_of(found.author, encoding_of(found)), signature_of(found.committer)
    return Message(str(found.id), commit_message(found), author, committer.zoned)
