"""Whether commits contain one another."""

from collections.abc import Collection, Mapping

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.history.log import BUFFERED_OUTPUT
from ingot.log import log_failure


def is_ancestor(repository: Repository, old: str, new: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether ``new`` contains ``old``; ``env`` may name where objects lie that are not accepted yet."""
    outcome = run_git(["merge-base", "--is-ancestor"], repository.path, env=env, operands=[old, new], check=False)
    # Neither yes nor no means that one of them is no commit: then nothing is contained.
    return outcome.status == 0


def new_commits_among(repository: Repository, old: str, new: str, wanted: Collection[str]) -> frozenset[str]:
    """Those of the wanted commits that ``new`` contains and ``old``, which may be nothing, does not.

    Where git cannot tell, as in a damaged repository, it is none: what asks has to go on.
    """
    limits = [] if old == NO_OID else [f"^{old}"]
    try:
        listed = run_git(["rev-list", new, *limits, "--"], repository.path, env=BUFFERED_OUTPUT)
    except GitError as error:
        log_failure("new commits not listed", error)
        return frozenset()
    return frozenset(wanted).intersection(listed.out.decode().split())
