"""What a change of a reference brought, told in a few words."""

from itertools import islice
from typing import Any

import msgspec

from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.history.commits import (
    NO_OID,
    Signature,
    commit_encoding,
    commit_id_or_none,
    commit_message,
    commit_or_none,
    to_signature,
)
from ingot.git.writing.ref_updates import RefUpdate

MAX_COUNTED = 1000
"""So many commits are counted; a push that brings more brings many."""


MAX_MESSAGES = 100
"""Of so many of them, the newest, it is known what they say."""
MAX_MESSAGE_BYTES = 200_000
"""As long as they do not say more than this altogether."""


class CommitMessage(msgspec.Struct, frozen=True):
    """What a commit says, and who said it."""

    oid: str
    text: str
    author: Signature | None = None
    committed_at: str = ""


class PushSummary(msgspec.Struct, frozen=True):
    """How many commits are new, the title of the one that the reference leads to now, and what the newest say."""

    commits: int = 0
    title: str | None = None
    messages: tuple[CommitMessage, ...] = ()
    """The oldest of them first; fewer than there are commits where these are very many, or say very much."""


def summarize_push(repository: Repository, update: RefUpdate, default_branch: str) -> PushSummary:
    """What a change that has happened brought; of a new branch, what the default branch does not have."""
    tip = None if update.deletes else commit_id_or_none(repository, update.new)
    commit = commit_or_none(repository, tip) if tip else None
    if commit is None:
        return PushSummary()
    if update.branch is None:
        return PushSummary(0, commit.title)
    known = update.old
    if update.creates and update.branch != default_branch:
        known = repository.tip(f"refs/heads/{default_branch}") or NO_OID
    return _summarize_commits(repository, commit.oid, known, commit.title)


def _summarize_commits(repository: Repository, tip: str, known: str, title: str) -> PushSummary:
    walk = open_repository(repository.path).walk(tip)
    if known != NO_OID:
        try:
            walk.hide(known)
        except (
            KeyError,
            ValueError,
            pygit2_module().GitError,
        ):  # What was there before is gone: then all of it is new.
            pass
    count, length, messages = 0, 0, []
    for count, found in enumerate(islice(walk, MAX_COUNTED), 1):
        if count <= MAX_MESSAGES and length <= MAX_MESSAGE_BYTES:
            length += len(found.raw_message)
            messages.append(found)
    if length > MAX_MESSAGE_BYTES:
        messages.pop()
    return PushSummary(count, title, tuple(_commit_message(found) for found in reversed(messages)))


def _commit_message(found: Any) -> CommitMessage:
    author, committer = to_signature(found.author, commit_encoding(found)), to_signature(found.committer)
    return CommitMessage(str(found.id), commit_message(found), author, committer.zoned)
