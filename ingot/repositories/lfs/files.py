"""Storage of LFS objects as ``ab/cd/<rest of the digest>``; objects appear only when they are complete and verified."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.drivers import INCOMING_FOLDER
from ingot.core.storage.files import FileStorage

_OID = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}")


class ContentMismatch(Exception):
    """Uploaded content that does not match its digest or size."""


def is_oid(text: str) -> bool:
    """Return whether a text is a valid object id: a SHA-256 digest, which is safe in a path."""
    return _OID.fullmatch(text) is not None


def lfs_files_of(settings: Settings) -> "LfsFiles":
    """Return the storage of an instance's LFS objects."""
    return LfsFiles(file_storage(settings, "lfs"))


class LfsFiles:
    """LFS objects of all projects, each stored once; any number of processes may share the storage."""

    def __init__(self, storage: FileStorage) -> None:
        self.storage = storage

    @property
    def has_bucket(self) -> bool:
        """Whether objects may be in a bucket."""
        return self.storage.bucket is not None

    def path_of(self, oid: str) -> Path:
        """Return the path of an object on the disk, which need not exist; raise ValueError for an invalid id."""
        return self.storage.disk.path_of(key_of(oid))

    def size_of(self, oid: str) -> int | None:
        """Return the size of an object, or None if it does not exist."""
        return self.storage.size_of(key_of(oid))

    def may_have(self, oid: str, size: int) -> bool:
        """Return whether an object of this size may exist; the bucket is not asked, which would take too long."""
        on_disk = self.storage.disk.size_of(key_of(oid))
        return on_disk == size or (on_disk is None and self.has_bucket)

    def pieces(self, oid: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of an object."""
        return self.storage.pieces(key_of(oid), start, stop)

    def download_url(self, oid: str) -> str | None:
        """Return a URL with which a client downloads an object from the bucket itself; None if it cannot."""
        return self.storage.download_url(key_of(oid))

    def receive(self, oid: str, size: int) -> "IncomingFile":
        """Start the upload of an object."""
        return IncomingFile(self.storage, oid, size)

    def upload_url(self, project_id: int, oid: str) -> str | None:
        """Return a URL with which a client uploads an object to the bucket itself; None if it cannot."""
        if self.storage.bucket is None or self.storage.target is not self.storage.bucket:
            return None
        return self.storage.bucket.signed_url("PUT", _incoming_key(project_id, oid))

    def accept_upload(self, project_id: int, oid: str, size: int) -> bool:
        """Verify and publish an object that a client has uploaded to the bucket; return False if there is none.

        Raise ContentMismatch if its content is another one. The object is read, because the store knows only that it
        has received what the client sent.
        """
        bucket, incoming = self.storage.bucket, _incoming_key(project_id, oid)
        uploaded = None if bucket is None else bucket.size_of(incoming)
        if bucket is None or uploaded is None:
            return False
        if uploaded != size or _digest(bucket.pieces(incoming, 0, uploaded)) != oid:
            bucket.delete(incoming)
            raise ContentMismatch("The content does not match its digest.")
        bucket.rename(incoming, key_of(oid))
        return True

    def remove(self, oid: str, older_than_seconds: float) -> None:
        """Delete an object unless it was just uploaded: the upload may be about to link it to its project."""
        self.storage.delete_older(key_of(oid), older_than_seconds)

    def batches(self) -> Iterator[list[str]]:
        """Yield the digests of all objects, some at a time."""
        for batch in self.storage.key_batches(_KEY):
            yield [key.replace("/", "") for key in batch]

    def delete_partial_files(self, older_than_seconds: float) -> None:
        """Delete incomplete uploads that have not been written to for this long."""
        self.storage.delete_partial_files(older_than_seconds)


def key_of(oid: str) -> str:
    """Return the key of an object in the storage; raise ValueError for an invalid id."""
    if not is_oid(oid):
        raise ValueError("Not a valid LFS object id")
    return f"{oid[:2]}/{oid[2:4]}/{oid[4:]}"


class IncomingFile:
    """An upload in progress; the object appears only when it is complete and matches its digest."""

    def __init__(self, storage: FileStorage, oid: str, size: int) -> None:
        self._storage = storage
        self._path = storage.incoming_path()
        self._oid = oid
        self._left = size
        self._digest = hashlib.sha256()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "wb", 0)

    def write(self, piece: bytes) -> None:
        """Append a chunk; raise ContentMismatch if the upload exceeds the announced size."""
        self._left -= len(piece)
        if self._left < 0:
            raise ContentMismatch("The content is larger than the announced size.")
        self._digest.update(piece)
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest) :]

    def finish(self) -> None:
        """Verify and publish the object; overwrites an existing copy of the same content."""
        if self._left > 0:
            raise ContentMismatch("The content is smaller than the announced size.")
        if self._digest.hexdigest() != self._oid:
            raise ContentMismatch("The content does not match its digest.")
        self._file.close()
        self._storage.publish(key_of(self._oid), self._path)

    def discard(self) -> None:
        """Delete the temporary file of an upload that was not completed."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _incoming_key(project_id: int, oid: str) -> str:
    return f"{INCOMING_FOLDER}/{project_id}-{oid}"


def _digest(pieces: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
