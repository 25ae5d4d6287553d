"""Lock of a local copy while git serves a client from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingot.git.core.shared_disks import file_lock

USE_SUFFIX = ".use"
"""Of the lock file beside the copy; several may hold the lock, and whoever removes the copy must be alone."""


@contextmanager
def copy_in_use(path: Path) -> Iterator[None]:
    """Keep a copy from being removed."""
    with file_lock(path.with_suffix(USE_SUFFIX), shared=True):
        yield
