"""Small writes to the disks of an instance, which show readiness whether data can be stored."""

import errno
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from ingot.core.log import log_failure

INTERVAL_SECONDS = 2.0
"""Time after which a result is out of date."""
TIMEOUT_SECONDS = 10.0
"""Time after which a disk that does not respond counts as failed."""
_OTHER_REASONS = (errno.EMFILE, errno.ENFILE)
"""A lack of file descriptors says nothing about the disk."""


class DiskProbe:
    """Writes in a thread of its own when it is asked for a new result, so that a slow disk delays no request."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._lock = threading.Lock()
        self._began_at = float("-inf")
        self._running = False
        self._writable = True

    def is_writable(self) -> bool:
        """Return whether the last write succeeded; begin another one if it was too long ago."""
        with self._lock:
            age = monotonic() - self._began_at
            if self._running:
                return self._writable and age < TIMEOUT_SECONDS
            if age >= INTERVAL_SECONDS:
                self._running, self._began_at = True, monotonic()
                threading.Thread(target=self._run, name="disk probe", daemon=True).start()
            return self._writable

    def _run(self) -> None:
        writable = True
        for folder in self._existing():
            try:
                _write(folder)
            except OSError as error:
                if error.errno not in _OTHER_REASONS:
                    log_failure("disk not writable", error, folder=folder.name)
                    writable = False
        with self._lock:
            self._running, self._writable = False, writable

    def _existing(self) -> list[Path]:
        """Return one folder of each disk."""
        by_device: dict[int, Path] = {}
        for folder in self._folders:
            try:
                by_device.setdefault(folder.stat().st_dev, folder)
            except FileNotFoundError:  # It is created when it is first needed.
                continue
            except OSError:  # The write shows what is wrong.
                by_device[-len(by_device) - 1] = folder
        return list(by_device.values())


def _write(folder: Path) -> None:
    """Write a file without a name, of which a crash leaves nothing, and sync it."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(b"\0")
        os.fsync(file.fileno())
