"""Commits as patches that other programs apply, made while they are sent."""

from collections.abc import Generator
from contextlib import closing

from ingot.git.commits import Commit
from ingot.git.diffs import EMPTY_TREE
from ingot.git.faults import GitSaidTooMuch
from ingot.git.repository import Repository
from ingot.git.stats import LARGEST_TEXT
from ingot.git.streaming import stream_git

MOST_BYTES = 256 * 2**20
"""What would be larger breaks off, so that nobody takes a part for the whole."""
MOST_MEMORY = 512 * 2**20
"""Binary files stand in patches whole, and git holds each of them while it writes it."""
_PLAIN = ("-M", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
_MAILED = ("format-patch", "--stdout", "--signature=Ingot", *_PLAIN)


def stream_diff(repository: Repository, old: str | None, new: str) -> Generator[bytes, None, None]:
    """What leads from one commit to another, or from nothing to it, in the form of ``git diff``."""
    return _streamed(repository, ["diff-tree", "-r", "-p", *_PLAIN, old or EMPTY_TREE, new, "--"])


def stream_commit_diff(repository: Repository, commit: Commit) -> Generator[bytes, None, None]:
    """The same of one commit, against its first parent."""
    return stream_diff(repository, commit.parents[0] if commit.parents else None, commit.oid)


def stream_mails(repository: Repository, since: str | None, head: str) -> Generator[bytes, None, None]:
    """The commits that ``head`` has and ``since`` has not, each as a mail, the oldest first; merges are left out."""
    return _streamed(repository, [*_MAILED, *([f"{since}..{head}"] if since else ["--root", head]), "--"])


def stream_commit_mail(repository: Repository, commit: Commit) -> Generator[bytes, None, None]:
    """One commit as a mail; of a merge, what it brought to its first parent, which ``format-patch`` would leave out."""
    if len(commit.parents) < 2:
        return _streamed(repository, [*_MAILED, "--root", "--max-count=1", commit.oid, "--"])
    shown = ["show", "--format=email", "--patch-with-stat", "--binary", "-m", "--first-parent"]
    return _streamed(repository, [*shown, *_PLAIN, commit.oid, "--"])


def _streamed(repository: Repository, args: list[str]) -> Generator[bytes, None, None]:
    sent = 0
    with closing(stream_git(args, repository.path, config=[LARGEST_TEXT], most_memory=MOST_MEMORY)) as pieces:
        for piece in pieces:
            sent += len(piece)
            if sent > MOST_BYTES:
                raise GitSaidTooMuch(args[0], 0, "")
            yield piece
