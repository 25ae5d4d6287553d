"""Summaries of ref updates: number, title and messages of the new commits."""

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
"""Maximum number of counted commits."""


MAX_MESSAGES = 100
"""Maximum number of messages, of the newest commits."""
MAX_MESSAGE_BYTES = 200_000
"""Maximum total size of the messages."""


class CommitMessage(msgspec.Struct, frozen=True):
    """Message of a commit with its author."""

    oid: str
    text: str
    author: Signature | None = None
    committed_at: str = ""


class PushSummary(msgspec.Struct, frozen=True):
    """Number of new commits, title of the new tip, and messages of the newest commits."""

    commits: int = 0
    title: str | None = None
    messages: tuple[CommitMessage, ...] = ()
    """Oldest first; fewer than ``commits`` if these are many or their messages are long."""


def summarize_push(
    repository: Repository, update: RefUpdate, default_branch: str, default_tip: str | None = None
) -> PushSummary:
    """Summarize a ref update; a new branch is compared with the default branch.

    ``default_tip`` is the commit of the default branch if the same push updates it.
    """
    tip = None if update.deletes else commit_id_or_none(repository, update.new)
    commit = commit_or_none(repository, tip) if tip else None
    if commit is None:
        return PushSummary()
    if update.branch is None:
        return PushSummary(0, commit.title)
    base = update.old
    if update.creates and update.branch != default_branch:
        base = default_tip or repository.tip(f"refs/heads/{default_branch}") or NO_OID
    return _summarize_commits(repository, commit.oid, base, commit.title)


def _summarize_commits(repository: Repository, tip: str, base: str, title: str) -> PushSummary:
    walk = open_repository(repository.path).walk(tip)
    if base != NO_OID:
        try:
            walk.hide(base)
        except (KeyError, ValueError, pygit2_module().GitError):
            pass  # The old tip no longer exists, so all commits count as new.
    count, length, messages = 0, 0, []
    for count, commit in enumerate(islice(walk, MAX_COUNTED), 1):
        if count <= MAX_MESSAGES and length <= MAX_MESSAGE_BYTES:
            length += len(commit.raw_message)
            messages.append(commit)
    if length > MAX_MESSAGE_BYTES:
        messages.pop()
    return PushSummary(count, title, tuple(_commit_message(commit) for commit in reversed(messages)))


def _commit_message(commit: Any) -> CommitMessage:
    author, committer = to_signature(commit.author, commit_encoding(commit)), to_signature(commit.committer)
    return CommitMessage(str(commit.id), commit_message(commit), author, committer.zoned)
