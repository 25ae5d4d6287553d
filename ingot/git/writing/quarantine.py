"""Inspection of the objects of a push before it is accepted."""

from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository


def largest_new_file(repository: Repository, quarantine: Path) -> int:
    """Return the size of the largest blob among the objects of a push."""
    result = run_git(
        ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectsize)"],
        repository.path,
        env={"GIT_OBJECT_DIRECTORY": str(quarantine), "GIT_ALTERNATE_OBJECT_DIRECTORIES": ""},
        max_bytes=512 * 2**20,
    )
    sizes = (line.partition(b" ") for line in result.out.splitlines())
    return max((int(size) for kind, _, size in sizes if kind == b"blob"), default=0)
