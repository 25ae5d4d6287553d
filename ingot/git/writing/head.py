"""Updates of HEAD to the default branch in the database, safe against concurrency and crashes."""

from collections.abc import Callable

from ingot.core.log import log_failure
from ingot.git.core.errors import DamagedRepository
from ingot.git.core.repository import Repository
from ingot.git.core.shared_disks import file_lock


def head_or_none(repository: Repository) -> str | None:
    """Return the branch that HEAD points at, or None if HEAD cannot be read."""
    try:
        return repository.head_branch()
    except DamagedRepository as error:
        log_failure("HEAD not read", error)
        return None


def can_be_head(repository: Repository, branch: str) -> bool:
    """Return whether HEAD may point at a branch: it must exist unless the repository is empty."""
    return repository.branch_exists(branch) or repository.is_empty()


def point_head_to(repository: Repository, read_branch: Callable[[], str | None]) -> str | None:
    """Point HEAD at the branch that ``read_branch`` returns, if possible; return the branch it points at afterwards.

    ``read_branch`` is called under a lock, so that of two concurrent calls the later one uses the newer value. The
    kernel releases the lock when its process ends.
    """
    with file_lock(repository.path / "ingot-head"):
        branch, head = read_branch(), head_or_none(repository)
        if branch is None or branch == head or not can_be_head(repository, branch):
            return head
        repository.set_head(branch)
        return branch
