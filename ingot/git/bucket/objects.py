"""Packs in the object store: uploads with checksums, and checked downloads."""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from ingot.core.errors import Unavailable
from ingot.core.storage.s3 import BucketDriver
from ingot.git.bucket.service import UploadedPack
from ingot.git.bucket.tables import StoredPack
from ingot.git.core.errors import DamagedRepository, RepositoryBucketUnavailable

T = TypeVar("T")
R = TypeVar("R")
_BATCH_KEYS = 500
_STORED_NAME = re.compile(r"([0-9a-f]{2}/[0-9a-f]{38})\.(?:pack|idx)")
_THREADS = 8
_CHUNK_BYTES = 4 * 2**20
_RANGE_BYTES = 8 * 2**20
"""Size of the ranges of a large object, which are downloaded at the same time."""


class _IncomingFile(NamedTuple):
    """An object that is being downloaded."""

    key: str
    size: int
    digest: str
    path: Path
    name: str
    """Its final name."""


class PackObjects:
    """Packs and indexes in the bucket, each under a random key that is never used again."""

    def __init__(self, driver: BucketDriver) -> None:
        self._driver = driver

    @cached_property
    def _threads(self) -> Executor:
        return ThreadPoolExecutor(_THREADS, "packs")

    def upload(self, packs: Sequence[Path]) -> list[UploadedPack]:
        """Upload packs with their indexes, all at the same time; return when the bucket has them."""
        keys = [_new_object_key() for _ in packs]
        files = [file for pack, key in zip(packs, keys, strict=True) for file in _files(pack, key)]
        sums = self._each(self._upload, files)
        uploaded = []
        for number, (pack, key) in enumerate(zip(packs, keys, strict=True)):
            (pack_bytes, pack_sha256), (index_bytes, index_sha256) = sums[2 * number : 2 * number + 2]
            uploaded.append(UploadedPack(key, pack.stem, pack_bytes, pack_sha256, index_bytes, index_sha256))
        return uploaded

    def download(self, packs: Sequence[StoredPack], folder: Path) -> None:
        """Download packs into a folder, in ranges at the same time; raise FileNotFoundError if one does not exist.

        A pack gets its name only after its content was compared with the checksum, and its index last, because that
        makes it visible to git.
        """
        files = [file for pack in packs for file in _incoming_files(pack, folder)]
        try:
            self._each(self._download_range, [part for file in files for part in _ranges(file)])
            self._each(_verify, files)
            for file in files:
                file.path.chmod(0o444)
                file.path.rename(folder / file.name)
        finally:
            for file in files:
                file.path.unlink(missing_ok=True)

    def delete(self, object_key: str) -> None:
        """Delete a pack and its index, if they exist."""
        for suffix in (".pack", ".idx"):
            self._driver.delete(object_key + suffix)

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all objects, by their keys with suffix."""
        return {stored.key: stored.size for stored in self._driver.objects()}

    def old_keys(self, older_than_seconds: float) -> Iterator[list[str]]:
        """Yield the keys of packs that were uploaded so long ago, some at a time."""
        cutoff = time.time() - older_than_seconds
        batch: dict[str, None] = {}
        for stored in self._driver.objects():
            match = _STORED_NAME.fullmatch(stored.key)
            if match and stored.modified_at <= cutoff:
                batch[match[1]] = None
            if len(batch) >= _BATCH_KEYS:
                yield list(batch)
                batch = {}
        if batch:
            yield list(batch)

    def _upload(self, part: tuple[Path, str]) -> tuple[int, str]:
        path, key = part
        self._driver.upload(key, path)
        return path.stat().st_size, _digest(path)

    def _download_range(self, part: tuple[_IncomingFile, int, int]) -> None:
        file, start, stop = part
        piece = self._driver.read(file.key, start, stop)
        descriptor = os.open(file.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while piece:
                written = os.pwrite(descriptor, piece, start)
                piece, start = piece[written:], start + written
        finally:
            os.close(descriptor)

    def _each(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Call a function for all items at the same time; raise the first error after all have ended."""
        futures = [self._threads.submit(work, item) for item in items]
        errors = [error for future in futures if (error := future.exception()) is not None]
        if errors and isinstance(errors[0], Unavailable):
            raise RepositoryBucketUnavailable from errors[0]
        if errors:
            raise errors[0]
        return [future.result() for future in futures]


def _new_object_key() -> str:
    name = secrets.token_hex(20)
    return f"{name[:2]}/{name[2:]}"


def _files(pack: Path, key: str) -> list[tuple[Path, str]]:
    return [(pack, f"{key}.pack"), (pack.with_suffix(".idx"), f"{key}.idx")]


def _incoming_files(pack: StoredPack, folder: Path) -> Iterator[_IncomingFile]:
    """Yield a pack and its index, in this order."""
    for suffix, size, digest in (
        (".pack", pack.pack_bytes, pack.pack_sha256),
        (".idx", pack.index_bytes, pack.index_sha256),
    ):
        path = folder / f"tmp_{secrets.token_hex(8)}"
        yield _IncomingFile(pack.object_key + suffix, size, digest, path, pack.name + suffix)


def _ranges(file: _IncomingFile) -> Iterator[tuple[_IncomingFile, int, int]]:
    for start in range(0, file.size, _RANGE_BYTES):
        yield file, start, min(start + _RANGE_BYTES, file.size)


def _verify(file: _IncomingFile) -> None:
    if _digest(file.path) != file.digest:
        raise DamagedRepository(f"The object {file.key} in the bucket is damaged")


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK_BYTES):
            digest.update(piece)
    return digest.hexdigest()
