"""Storage of traces as ``<job id / 1000>/<job id>.log``; any number of processes may append to them.

A trace is written on the disk. That of a finished job may be moved to a bucket.

An acknowledged byte survives the end of every process, because the operating system has it once ``write`` has
returned. It is not synchronized to the disk until the job ends, so a loss of power can lose the last seconds of a
running job; its runner then sends them again.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.files import FileStorage
from ingot.core.storage.transfers import move_file

RUNNER_NOTICE_BYTES = 64 * 1024
"""Space beyond the limit for the notice with which a runner ends a log that it has truncated at the same limit."""
_FOLDER_JOBS = 1000
_KEY = re.compile(r"[0-9]+/([0-9]+)\.log")


class TraceOffsetMismatch(Exception):
    """A part that does not begin where the stored trace ends, after ``size`` bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class TraceTooLarge(Exception):
    """A trace that would exceed the limit."""


def trace_topic(job_id: int) -> str:
    """Return the topic that is announced when a job has written output."""
    return f"trace:{job_id}"


def trace_store_of(settings: Settings) -> "TraceStore":
    """Return the storage of an instance's traces."""
    limit = settings.max_trace_mb * 2**20 + RUNNER_NOTICE_BYTES
    return TraceStore(settings.data / "traces", limit, file_storage(settings, "traces"))


class TraceStore:
    """Files of traces, by job."""

    def __init__(self, root: Path, limit: int | None = None, storage: FileStorage | None = None) -> None:
        self.root = root
        self._limit = limit
        self.storage = storage or FileStorage(root)

    def path_of(self, job_id: int) -> Path:
        """Return the path of a trace, which need not exist."""
        return self.root / _key_of(job_id)

    def append(self, job_id: int, offset: int, data: bytes, secret: bytes = b"") -> int:
        """Append a part that begins at ``offset``, with each byte of ``secret`` masked; return the new size.

        Raise ``TraceOffsetMismatch`` if the trace does not end there, and ``TraceTooLarge`` beyond the limit.
        """
        with self._locked(job_id) as descriptor:
            size = os.fstat(descriptor).st_size
            if size != offset:
                raise TraceOffsetMismatch(size)
            if self._limit is not None and size + len(data) > self._limit:
                raise TraceTooLarge
            start = offset
            if secret and data:
                # The secret may be divided between two parts.
                start = max(0, offset - len(secret) + 1)
                data = _masked(os.pread(descriptor, offset - start, start) + data, secret)
            try:
                _write(descriptor, start, data)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            return start + len(data)

    def replace(self, job_id: int, data: bytes, secret: bytes = b"") -> int:
        """Replace the whole trace; return its size. Raise ``TraceTooLarge`` beyond the limit."""
        if self._limit is not None and len(data) > self._limit:
            raise TraceTooLarge
        with self._locked(job_id) as descriptor:
            os.ftruncate(descriptor, 0)
            _write(descriptor, 0, _masked(data, secret) if secret else data)
        return len(data)

    def size(self, job_id: int) -> int:
        """Return the size of a trace; 0 if there is none."""
        return self.storage.size_of(_key_of(job_id)) or 0

    def read(self, job_id: int, start: int = 0, length: int | None = None) -> bytes:
        """Return a part of a trace; empty if there is none."""
        try:
            with self.open(job_id) as file:
                file.seek(start)
                return file.read(-1 if length is None else length)
        except FileNotFoundError:
            return b""

    def pieces(self, job_id: int, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a trace, without what is appended meanwhile."""
        return self.storage.pieces(_key_of(job_id), start, stop)

    def open(self, job_id: int) -> BinaryIO:
        """Open a trace for reading; raise FileNotFoundError if there is none."""
        return self.storage.open(_key_of(job_id))

    def sync(self, job_id: int) -> None:
        """Write a complete trace to the disk."""
        with suppress(FileNotFoundError), self.path_of(job_id).open("rb") as file:
            os.fsync(file.fileno())

    def delete(self, job_id: int) -> None:
        """Delete a trace, if there is one."""
        self.storage.delete(_key_of(job_id))

    def archive(self, job_id: int) -> None:
        """Move the trace of a finished job to the bucket."""
        if self.storage.bucket is not None:
            move_file(self.storage, self.storage.disk, self.storage.bucket, _key_of(job_id))

    def job_ids(self, *, only_disk: bool = False) -> Iterator[tuple[int, float]]:
        """Yield the job of each trace and the time of its last change."""
        for stored in self.storage.disk.objects() if only_disk else self.storage.objects():
            match = _KEY.fullmatch(stored.key)
            if match:
                yield int(match[1]), stored.modified_at

    @contextmanager
    def _locked(self, job_id: int) -> Iterator[int]:
        """Open a trace for writing, which is created if needed, and keep other processes from appending meanwhile."""
        path = self.path_of(job_id)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _key_of(job_id: int) -> str:
    return f"{job_id // _FOLDER_JOBS}/{job_id}.log"


def _masked(data: bytes, secret: bytes) -> bytes:
    """Replace a secret with text of the same length, so that no offset changes."""
    return data.replace(secret, b"x" * len(secret))


def _write(descriptor: int, start: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, start)
        start, rest = start + written, rest[written:]
