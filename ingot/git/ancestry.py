"""Whether commits contain one another."""

from collections.abc import Mapping

from ingot.git.command import run_git
from ingot.git.repository import Repository


def is_ancestor(repository: Repository, old: str, new: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether ``new`` contains ``old``; ``env`` may name where objects lie that are not accepted yet."""
    outcome = run_git(["merge-base", "--is-ancestor"], repository.path, env=env, operands=[old, new], check=False)
    # Neither yes nor no means that one of them is no commit: then nothing is contained.
    return outcome.status == 0
