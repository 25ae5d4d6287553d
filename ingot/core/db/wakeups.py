"""Wake-ups between processes that share an embedded database: a named pipe for each process that waits."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path


class WakeupPipe:
    """Named pipe that becomes readable when a process calls ``wake_all`` with its folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        name = secrets.token_hex(8)
        self._path = folder / name
        hidden = folder / f".{name}"
        os.mkfifo(hidden, 0o600)
        # Opened for writing too, or it would be readable whenever no process has opened it.
        self.descriptor = os.open(hidden, os.O_RDWR | os.O_NONBLOCK)
        # Named only now: a pipe without a reader is taken for one whose process has ended.
        hidden.rename(self._path)

    def read(self) -> bytes:
        """Return the messages so far, and remove them from the pipe."""
        pieces = []
        with suppress(BlockingIOError):
            while piece := os.read(self.descriptor, 65_536):
                pieces.append(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """Remove the pipe."""
        self._path.unlink(missing_ok=True)
        os.close(self.descriptor)


def wake_all(folder: Path, message: bytes = b"!") -> None:
    """Wake all processes that wait at a pipe in the folder, and remove pipes whose processes have ended.

    A message of at most 4096 bytes arrives as a whole, or not at all if the process does not read.
    """
    try:
        pipes = list(folder.iterdir())
    except FileNotFoundError:  # No process has waited yet.
        return
    for pipe in pipes:
        if not pipe.name.startswith("."):
            _wake(pipe, message)


def _wake(path: Path, message: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except FileNotFoundError:  # Its process has just ended.
        return
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        path.unlink(missing_ok=True)
        return
    try:
        os.write(descriptor, message)
    except BlockingIOError:  # It has more wake-ups than it can read.
        pass
    finally:
        os.close(descriptor)
