"""Blobs that are uploaded in one or several requests."""

import fcntl
import hashlib
import os
import re
from functools import partial
from pathlib import Path

from ingot.ci.artifacts.store import stored_key_of
from ingot.core.storage.drivers import CHUNK_BYTES, INCOMING_FOLDER
from ingot.packages.files.store import PackageStore, ReceivedFile

UUID = re.compile(r"[0-9a-f]{32}")


class UploadBusy(Exception):
    """An upload to which another request writes."""


class PartialBlob:
    """The file of an upload until it is complete; any process may continue it."""

    def __init__(self, store: PackageStore, uuid: str) -> None:
        if not UUID.fullmatch(uuid):
            raise ValueError("Not a valid name of an upload")
        self._store = store
        self._uuid = uuid

    @property
    def path(self) -> Path:
        """Path of the file, which is deleted by the sweep if the upload is not continued."""
        return self._store.storage.root / INCOMING_FOLDER / self._uuid

    def create(self) -> None:
        """Create the empty file."""
        self._store.storage.incoming_folder()
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def size(self) -> int | None:
        """Return the number of bytes so far, or None if the upload does not exist any more."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return None

    def open(self) -> "BlobWriter":
        """Return a writer that appends to the file; raise UploadBusy or FileNotFoundError."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UploadBusy from None
        return BlobWriter(descriptor)

    def digest(self) -> str:
        """Return the digest of what was received."""
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            for piece in iter(partial(file.read, CHUNK_BYTES), b""):
                digest.update(piece)
        return digest.hexdigest()

    def publish(self, sha256: str) -> ReceivedFile:
        """Store the complete file durably."""
        size = self.path.stat().st_size
        self._store.storage.publish(stored_key_of(self._uuid), self.path)
        return ReceivedFile(self._uuid, size, sha256)

    def delete(self) -> None:
        """Delete the file, if it exists."""
        self.path.unlink(missing_ok=True)


class BlobWriter:
    """File of an upload, locked against other requests until it is closed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, piece: bytes) -> int:
        """Append bytes."""
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        return len(piece)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
