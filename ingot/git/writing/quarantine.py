"""What a push brought that is not accepted yet."""

from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository


def largest_new_file(repository: Repository, quarantine: Path) -> int:
    """The size of the largest file among the objects of a push."""
    listed = run_git(
        ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectsize)"],
        repository.path,
        env={"GIT_OBJECT_DIRECTORY": str(quarantine), "GIT_ALTERNATE_OBJECT_DIRECTORIES": ""},
        max_bytes=512 * 2**20,
    )
    sizes = (line.partition(b" ") for line in listed.out.splitlines())
    return max((int(size) for kind, _, size in sizes if kind == b"blob"), default=0)
