"""Ancestry checks between commits."""

from collections.abc import Collection, Mapping
from typing import Any

from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.history.log import BUFFERED_OUTPUT


def is_ancestor(repository: Repository, old: str, new: str, env: Mapping[str, str] | None = None) -> bool:
    """Return whether ``new`` contains ``old``; ``env`` may name the quarantine of a push that is not accepted yet.

    Raises ``GitError`` if ``old`` or a commit in between cannot be read. A ``new`` that is no commit contains nothing.
    """
    if env is None and old in _readable_parents(repository, old, new):
        return True  # The common case; a git process takes 4 ms.
    result = run_git(["merge-base", "--is-ancestor"], repository.path, env=env, operands=[old, new], check=False)
    if result.status not in (0, 1) and f"Not a valid commit name {new}" not in result.stderr:
        raise GitError("merge-base", result.status, result.stderr)
    return result.status == 0


def new_commits_among(repository: Repository, old: str, new: str, candidates: Collection[str]) -> frozenset[str]:
    """Return the given commits that ``new`` contains and ``old`` (possibly zeros) does not.

    Return none if git fails, as in a damaged repository: the caller must be able to continue.
    """
    if _readable_parents(repository, old, new) == [old]:
        return frozenset(candidates) & {new}
    limits = [] if old == NO_OID else [f"^{old}"]
    try:
        listed = run_git(["rev-list", new, *limits, "--"], repository.path, env=BUFFERED_OUTPUT)
    except GitError as error:
        log_failure("new commits not listed", error)
        return frozenset()
    return frozenset(candidates).intersection(listed.out.decode().split())


def _readable_parents(repository: Repository, old: str, new: str) -> list[str]:
    """Return the parents of ``new``; none if it or ``old`` is no commit in the repository, which git then reports."""
    require_blocking_allowed()
    handle = open_repository(repository.path)
    try:
        commits: list[Any] = [handle.get(oid) for oid in (old, new)]
    except (ValueError, pygit2_module().GitError):
        return []
    if any(commit is None or commit.type_str != "commit" for commit in commits):
        return []
    return [str(oid) for oid in commits[1].parent_ids]
