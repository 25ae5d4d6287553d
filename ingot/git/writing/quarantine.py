"""Inspection of the objects of a push before it is accepted."""

from pathlib import Path

from ingot.git.core.command import run_git
from ingot.git.core.library import pygit2_module
from ingot.git.core.repository import Repository

_INLINE_OBJECTS = 200
"""Up to this number, reading the objects in process is faster than starting git.

The time for more may grow with the square of their number, since each may be a delta of the one before it.
"""
_TIMEOUT_SECONDS = 300.0
_COUNT_POSITION = 8 + 255 * 4
"""Position of the number of objects in the index of a pack."""


def largest_new_objects(repository: Repository, quarantine: Path) -> dict[str, int]:
    """Return the size of the largest object of each type (commit, tree, blob, tag) among the objects of a push."""
    count = sum(map(_object_count, quarantine.glob("pack/*.idx")))
    largest: dict[str, int] = {}
    for kind, size in _sizes_in_process(quarantine) if count <= _INLINE_OBJECTS else _sizes(repository, quarantine):
        if size > largest.get(kind, -1):
            largest[kind] = size
    return largest


def _object_count(index: Path) -> int:
    with index.open("rb") as file:
        file.seek(_COUNT_POSITION)
        return int.from_bytes(file.read(4), "big")


def _sizes_in_process(quarantine: Path) -> list[tuple[str, int]]:
    odb = pygit2_module().Odb(str(quarantine))
    headers = [odb.read_header(oid) for oid in odb]
    return [(kind.name.lower(), size) for kind, size in headers]


def _sizes(repository: Repository, quarantine: Path) -> list[tuple[str, int]]:
    result = run_git(
        ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectsize)"],
        repository.path,
        timeout=_TIMEOUT_SECONDS,
        env={"GIT_OBJECT_DIRECTORY": str(quarantine), "GIT_ALTERNATE_OBJECT_DIRECTORIES": ""},
        max_bytes=512 * 2**20,
    )
    lines = (line.split() for line in result.out.decode().splitlines())
    return [(kind, int(size)) for kind, size in lines]
