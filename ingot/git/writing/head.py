"""Pointing HEAD to where a row says, also when several do so at once or one was killed on the way."""

import fcntl
import os
from collections.abc import Callable

from ingot.git.core.errors import DamagedRepository
from ingot.git.core.repository import Repository
from ingot.log import log_failure


def head_or_none(repository: Repository) -> str | None:
    """The branch that HEAD points to, or nothing where HEAD cannot be read."""
    try:
        return repository.head_branch()
    except DamagedRepository as error:
        log_failure("HEAD not read", error)
        return None


def can_be_head(repository: Repository, branch: str) -> bool:
    """Whether HEAD may point to a branch: any will do for an empty repository, others must be there."""
    return repository.branch_exists(branch) or repository.is_empty()


def point_head_to(repository: Repository, wanted: Callable[[], str | None]) -> str | None:
    """Point HEAD to the wanted branch, if it may; gives the branch that HEAD points to then.

    ``wanted`` is asked under a lock: of two who settle at once, the later one has the later answer. The lock ends
    with its holder, however that ends.
    """
    descriptor = os.open(repository.path / "refs", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        branch, head = wanted(), head_or_none(repository)
        if branch is None or branch == head or not can_be_head(repository, branch):
            return head
        repository.set_head(branch)
        return branch
    finally:
        os.close(descriptor)
