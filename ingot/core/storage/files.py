"""Files of one kind: on the disk, in a bucket or, while they are moved, some in each."""

import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ingot.core.storage.disk import DiskDriver
from ingot.core.storage.drivers import INCOMING_FOLDER, StorageDriver, StoredObject
from ingot.core.storage.s3 import BucketDriver

_BATCH_KEYS = 500
_INCOMING_NAME = re.compile(r"[0-9a-f]{32}")


class FileStorage:
    """Files of one kind; new ones are stored in one place, existing ones are found in both.

    The disk is searched first, because that takes microseconds, then the bucket, then the disk again: the file may have
    been moved there in between.
    """

    def __init__(self, root: Path, bucket: BucketDriver | None = None, *, in_bucket: bool = False) -> None:
        self.disk = DiskDriver(root)
        self.bucket = bucket
        self.target: StorageDriver = bucket if in_bucket and bucket is not None else self.disk

    @property
    def root(self) -> Path:
        """The directory of the files on the disk, and of uploads until they are complete."""
        return self.disk.root

    def size_of(self, key: str) -> int | None:
        """Return the size of a file, or None if it does not exist."""
        for place in self._places():
            size = place.size_of(key)
            if size is not None:
                return size
        return None

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading, with seeking; raise FileNotFoundError if it does not exist."""
        for place in self._places():
            try:
                return place.open(key)
            except FileNotFoundError:  # It may be in the next place.
                pass
        raise FileNotFoundError(key)

    def pieces(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of a file; the first step raises FileNotFoundError if it does not exist."""
        for place in self._places():
            try:
                for piece in place.pieces(key, start, stop):
                    start += len(piece)
                    yield piece
            except FileNotFoundError:  # It is in the next place, possibly since the last piece.
                continue
            return
        raise FileNotFoundError(key)

    def incoming_path(self) -> Path:
        """Return the path for a new upload, until it is published."""
        return self.incoming_folder() / secrets.token_hex(16)

    def incoming_folder(self) -> Path:
        """Return the folder for incomplete files; create it with its parent, which only this user may read."""
        folder = self.root / INCOMING_FOLDER
        for each in (self.root, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        return folder

    def publish(self, key: str, path: Path) -> None:
        """Store a complete local file durably under a key; the local name disappears."""
        self.target.publish(key, path)

    def delete(self, key: str) -> None:
        """Delete a file, if it exists."""
        self.disk.delete(key)
        if self.bucket is not None:
            self.bucket.delete(key)

    def delete_older(self, key: str, seconds: float) -> None:
        """Delete a file unless it was stored within the last seconds."""
        cutoff = time.time() - seconds
        try:
            if self.disk.path_of(key).stat().st_mtime <= cutoff:
                self.disk.delete(key)
        except FileNotFoundError:  # It is in the bucket, or has just been deleted.
            pass
        modified_at = None if self.bucket is None else self.bucket.modified_at(key)
        if self.bucket is not None and modified_at is not None and modified_at <= cutoff:
            self.bucket.delete(key)

    def objects(self) -> Iterator[StoredObject]:
        """Yield all files; one that is being moved may occur twice."""
        yield from self.disk.objects()
        if self.bucket is not None:
            yield from self.bucket.objects()

    def key_batches(self, pattern: re.Pattern[str], older_than_seconds: float = 0.0) -> Iterator[list[str]]:
        """Yield the keys that match the pattern, of files that are older, some at a time."""
        cutoff = time.time() - older_than_seconds
        batch: list[str] = []
        for stored in self.objects():
            if stored.modified_at <= cutoff and pattern.fullmatch(stored.key):
                batch.append(stored.key)
            if len(batch) >= _BATCH_KEYS:
                yield batch
                batch = []
        if batch:
            yield batch

    def download_url(self, key: str) -> str | None:
        """Return a URL with which a client downloads a file from the bucket.

        Return None if the file is on the disk or if clients cannot reach the bucket. Whether the bucket has the file is
        not checked.
        """
        if self.bucket is None or self.disk.size_of(key) is not None:
            return None
        return self.bucket.signed_url("GET", key)

    def delete_partial_files(self, older_than_seconds: float) -> None:
        """Delete incomplete uploads that have not been written to for this long."""
        cutoff = time.time() - older_than_seconds
        for path in _files_in(self.root / INCOMING_FOLDER):
            try:
                if _INCOMING_NAME.fullmatch(path.name) and path.stat().st_mtime <= cutoff:
                    path.unlink()
            except FileNotFoundError:  # The upload has just been completed.
                pass
        for stored in () if self.bucket is None else self.bucket.incoming():
            if self.bucket is not None and stored.modified_at <= cutoff:
                self.bucket.delete(stored.key)

    def _places(self) -> Iterator[StorageDriver]:
        yield self.disk
        if self.bucket is not None:
            yield self.bucket
            yield self.disk


def _files_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
