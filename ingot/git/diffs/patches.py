"""Commits as patches that other programs apply, made while they are sent."""

from collections.abc import Generator
from contextlib import closing

from ingot.git.core.errors import GitOutputTooLarge
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git
from ingot.git.diffs.diffs import EMPTY_TREE
from ingot.git.diffs.stats import MAX_TEXT_BYTES
from ingot.git.history.commits import Commit

MAX_BYTES = 256 * 2**20
"""What would be larger breaks off, so that nobody takes a part for the whole."""
MAX_MEMORY = 512 * 2**20
"""Binary files stand in patches whole, and git holds each of them while it writes it."""
_DIFF_OPTIONS = ("-M", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
_MAIL_OPTIONS = ("format-patch", "--stdout", "--signature=Ingot", *_DIFF_OPTIONS)


def stream_diff(repository: Repository, old: str | None, new: str) -> Generator[bytes, None, None]:
    """What leads from one commit to another, or from nothing to it, in the form of ``git diff``."""
    return _stream(repository, ["diff-tree", "-r", "-p", *_DIFF_OPTIONS, old or EMPTY_TREE, new, "--"])


def stream_commit_diff(repository: Repository, commit: Commit) -> Generator[bytes, None, None]:
    """The same of one commit, against its first parent."""
    return stream_diff(repository, commit.parents[0] if commit.parents else None, commit.oid)


def stream_mails(repository: Repository, since: str | None, head: str) -> Generator[bytes, None, None]:
    """The commits that ``head`` has and ``since`` has not, each as a mail, the oldest first; merges are left out."""
    return _stream(repository, [*_MAIL_OPTIONS, *([f"{since}..{head}"] if since else ["--root", head]), "--"])


def stream_commit_mail(repository: Repository, commit: Commit) -> Generator[bytes, None, None]:
    """One commit as a mail; of a merge, what it brought to its first parent, which ``format-patch`` would leave out."""
    if len(commit.parents) < 2:
        return _stream(repository, [*_MAIL_OPTIONS, "--root", "--max-count=1", commit.oid, "--"])
    shown = ["show", "--format=email", "--patch-with-stat", "--binary", "-m", "--first-parent"]
    return _stream(repository, [*shown, *_DIFF_OPTIONS, commit.oid, "--"])


def _stream(repository: Repository, args: list[str]) -> Generator[bytes, None, None]:
    sent = 0
    with closing(stream_git(args, repository.path, config=[MAX_TEXT_BYTES], max_memory=MAX_MEMORY)) as pieces:
        for piece in pieces:
            sent += len(piece)
            if sent > MAX_BYTES:
                raise GitOutputTooLarge(args[0], 0, "")
            yield piece
