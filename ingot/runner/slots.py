"""Numbered directories for builds, so that jobs that run at the same time never share a work tree."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path


class BuildSlots:
    """Slots of a directory of builds; several runners may use the same directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def acquire(self) -> Iterator[int]:
        """Lock the first free slot and yield its number."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in count():
            # Other threads of this process need a lock of their own, which each opened file has.
            descriptor = os.open(self._folder / f"{number}.lock", os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # In use.
                os.close(descriptor)
                continue
            try:
                yield number
            finally:
                os.close(descriptor)
            return
