"""Archives of commits in files, so that a repeated download is neither read from git nor compressed again.

Only callers who may read the repository get here. Concurrent requests for the same archive share one computation:
whichever reader needs more than there is computes the next part, and all read it from the file.
"""

import hashlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from ingot.core.errors import TransfersBusy
from ingot.core.log import log_failure
from ingot.core.offload import cancellable_if, require_blocking_allowed
from ingot.core.settings import Settings
from ingot.git.core.streaming import slice_stream
from ingot.git.trees.archives import MAX_BYTES

MAX_COMPUTATIONS = 8
"""Archives that one worker computes at a time."""
MAX_COMPUTATIONS_OF_CALLER = 2
MAX_FILES = 2000
LARGEST_FRACTION = 4
"""An archive larger than a quarter of the cache is not stored."""
STALE_SECONDS = 86_400.0
"""Age of unfinished files, which a crash has left."""
_CHUNK_BYTES = 256 * 1024
_SUFFIX = ".archive"

Pieces = Generator[bytes, None, None]


class _Computation:
    """Archive that is being computed, and its file."""

    def __init__(self, caller: str, pieces: Pieces, folder: Path) -> None:
        self.caller = caller
        self.pieces = pieces
        self.file = NamedTemporaryFile(dir=folder, prefix=".", buffering=0)  # noqa: SIM115 - The last reader closes it.
        self.size = 0
        self.readers = 0
        self.is_complete = False
        self.is_usable = True
        """Whether readers still get more from the file."""
        self.lock = threading.Lock()


class ArchiveCache:
    """Finished archives in a folder of limited size; the least recently used ones are deleted."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._shared: dict[str, _Computation] = {}
        self._callers: Counter[str] = Counter()
        self._lock = threading.Lock()

    def pieces(self, key: tuple[str, ...], caller: str, compute: Callable[[], Pieces]) -> Pieces:
        """Yield an archive; ``key`` names everything that its bytes depend on.

        Raise ``TransfersBusy`` if it has to be computed and the caller already has several such archives.
        """
        require_blocking_allowed()
        name = hashlib.sha256("\0".join(key).encode(errors="surrogateescape")).hexdigest() + _SUFFIX
        path = self._folder / name
        if path.exists():
            try:
                os.utime(path)
                with path.open("rb") as stored:
                    yield from iter(lambda: stored.read(_CHUNK_BYTES), b"")
                return
            except FileNotFoundError:  # Evicted meanwhile.
                pass
        shared = self._join(name, caller, compute) if self._max_bytes else None
        if shared is None:
            with self._counted(caller):
                yield from compute()
            return
        try:
            yield from self._read(name, shared, compute)
        finally:
            self._leave(name, shared)

    def _join(self, name: str, caller: str, compute: Callable[[], Pieces]) -> _Computation | None:
        """Return the computation of an archive; None if there is no place for its file."""
        with self._lock:
            shared = self._shared.get(name)
            if shared is None:
                self._count(caller)
                try:
                    self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    shared = self._shared[name] = _Computation(caller, compute(), self._folder)
                except OSError as error:  # Such as a full disk.
                    self._discount(caller)
                    log_failure("archive not stored", error)
                    return None
            shared.readers += 1
            return shared

    def _leave(self, name: str, shared: _Computation) -> None:
        with self._lock:
            shared.readers -= 1
            if shared.readers:
                return
            if self._shared.get(name) is shared:
                del self._shared[name]
            self._discount(shared.caller)
        shared.pieces.close()
        shared.file.close()

    def _read(self, name: str, shared: _Computation, compute: Callable[[], Pieces]) -> Pieces:
        position = 0
        takes_over = False
        while True:
            while piece := os.pread(shared.file.fileno(), min(_CHUNK_BYTES, shared.size - position), position):
                position += len(piece)
                yield piece
            if takes_over:
                yield from shared.pieces
                return
            with shared.lock:
                if position < shared.size:
                    continue
                if shared.is_complete:
                    return
                if not shared.is_usable:
                    break
                takes_over = not self._advance(name, shared)
        with closing(slice_stream(compute(), position, MAX_BYTES)) as rest:
            yield from rest

    def _advance(self, name: str, shared: _Computation) -> bool:
        """Compute the next part; return False if the archive has become too large to be stored."""
        try:
            with cancellable_if(lambda: shared.readers == 1):
                piece = next(shared.pieces, b"")
        except BaseException:
            shared.is_usable = False
            raise
        if not piece:
            self._publish(name, shared)
            return True
        try:
            shared.file.write(piece)
        except BaseException:
            shared.is_usable = False  # Other readers compute the rest themselves.
            raise
        shared.size += len(piece)
        shared.is_usable = shared.size <= self._max_bytes // LARGEST_FRACTION
        return shared.is_usable

    def _publish(self, name: str, shared: _Computation) -> None:
        shared.is_complete = True
        try:
            os.link(shared.file.name, self._folder / name)
        except FileExistsError:  # Another worker was faster.
            return
        except OSError as error:
            log_failure("archive not stored", error)
            return
        self._evict()

    def _evict(self) -> None:
        """Delete the least recently used archives beyond the limits, and what a crash has left."""
        archives = []
        for entry in os.scandir(self._folder):
            status = entry.stat()
            if entry.name.endswith(_SUFFIX):
                archives.append((status.st_mtime, status.st_size, entry.path))
            elif status.st_mtime < time.time() - STALE_SECONDS:
                Path(entry.path).unlink(missing_ok=True)
        kept_bytes = 0
        for number, (_, size, path) in enumerate(sorted(archives, reverse=True), 1):
            kept_bytes += size
            if kept_bytes > self._max_bytes or number > MAX_FILES:
                Path(path).unlink(missing_ok=True)

    @contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        with self._lock:
            self._count(caller)
        try:
            yield
        finally:
            with self._lock:
                self._discount(caller)

    def _count(self, caller: str) -> None:
        if self._callers.total() >= MAX_COMPUTATIONS or self._callers[caller] >= MAX_COMPUTATIONS_OF_CALLER:
            raise TransfersBusy
        self._callers[caller] += 1

    def _discount(self, caller: str) -> None:
        self._callers[caller] -= 1
        if not self._callers[caller]:
            del self._callers[caller]


@lru_cache(8)
def _cache_at(data: Path, megabytes: int) -> ArchiveCache:
    return ArchiveCache(data / "cache" / "archives", megabytes * 2**20)


def archive_cache(settings: Settings) -> ArchiveCache:
    """Return the cache of this process."""
    return _cache_at(settings.data, settings.archive_cache_mb)
