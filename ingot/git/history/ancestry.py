"""Ancestry checks between commits."""

from collections.abc import Collection, Mapping

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.history.log import BUFFERED_OUTPUT
from ingot.log import log_failure


def is_ancestor(repository: Repository, old: str, new: str, env: Mapping[str, str] | None = None) -> bool:
    """Return whether ``new`` contains ``old``; ``env`` may name the quarantine of a push that is not accepted yet.

    Raises ``GitError`` if ``old`` or a commit in between cannot be read. A ``new`` that is no commit contains nothing.
    """
    result = run_git(["merge-base", "--is-ancestor"], repository.path, env=env, operands=[old, new], check=False)
    if result.status not in (0, 1) and f"Not a valid commit name {new}" not in result.stderr:
        raise GitError("merge-base", result.status, result.stderr)
    return result.status == 0


def new_commits_among(repository: Repository, old: str, new: str, candidates: Collection[str]) -> frozenset[str]:
    """Return the given commits that ``new`` contains and ``old`` (possibly zeros) does not.

    Return none if git fails, as in a damaged repository: the caller must be able to continue.
    """
    limits = [] if old == NO_OID else [f"^{old}"]
    try:
        listed = run_git(["rev-list", new, *limits, "--"], repository.path, env=BUFFERED_OUTPUT)
    except GitError as error:
        log_failure("new commits not listed", error)
        return frozenset()
    return frozenset(candidates).intersection(listed.out.decode().split())
