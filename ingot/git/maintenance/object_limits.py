"""Limits of the sizes of git objects: a small pack can describe objects of any size."""

from collections.abc import Mapping
from pathlib import Path

from ingot.git.core.command import run_git

MAX_OBJECT_MB = {"commit": 8, "tag": 8, "tree": 64}
"""Limits of messages and folders, which are read as a whole; a tree of 64 MB is a folder with over a million files."""
_MEGABYTE = 2**20
_TIMEOUT_SECONDS = 1800.0


def size_error(largest: Mapping[str, int]) -> str | None:
    """Return the reason why objects of these sizes are refused, or None; ``largest`` has the largest of each type."""
    for kind, limit in MAX_OBJECT_MB.items():
        if largest.get(kind, 0) > limit * _MEGABYTE:
            return f"A {kind} is larger than the {limit} MB that are allowed."
    return None


def largest_objects(path: Path) -> dict[str, int]:
    """Return the size of the largest object of each type in a repository."""
    largest: dict[str, int] = {}
    rest = b""

    def collect(piece: bytes) -> None:
        nonlocal rest
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            kind, _, size = line.decode().partition(" ")
            largest[kind] = max(largest.get(kind, 0), int(size))

    args = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectsize)"]
    run_git(args, path, timeout=_TIMEOUT_SECONDS, on_stdout=collect)
    return largest
