"""Commits of a layer of a stack itself, without those of the layer below."""

from collections.abc import Sequence

from ingot.git.core.repository import Repository
from ingot.git.history.commits import Signature
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.writing.merge_commits import rebase_commits


def own_base(repository: Repository, head: str, tip: str, lower_heads: Sequence[str]) -> str | None:
    """Return the commit since which a head has its own changes: its merge base with the target or the layer below."""
    return merge_base_or_none(repository, [head, tip, *lower_heads] if lower_heads else [tip, head])


def rewritten_base(repository: Repository, head: str, tip: str, lower_heads: Sequence[str]) -> str | None:
    """Return the last commit of the layer below in a head, if the target has that layer only in another form."""
    if not lower_heads:
        return None
    base = own_base(repository, head, tip, lower_heads)
    return None if base == merge_base_or_none(repository, [tip, head]) else base


def own_head(
    repository: Repository,
    head: str,
    tip: str,
    lower_heads: Sequence[str],
    committer: Signature,
    *,
    linear: bool = False,
) -> str:
    """Return a commit with the own commits of a head on top of ``tip``, or the head if it has no others.

    With ``linear`` they are also copied if the head does not contain ``tip``. Raises ``MergeConflict``, and
    ``TooManyCommits`` for a long rebase.
    """
    base = rewritten_base(repository, head, tip, lower_heads)
    if base is None and not (linear and merge_base_or_none(repository, [tip, head]) != tip):
        return head
    return rebase_commits(repository, tip, head, committer, [] if base is None else [base])
