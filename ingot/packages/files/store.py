"""Storage of package files and image layers, which appear only when they are complete."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from ingot.ci.artifacts.store import ArtifactStore, IncomingArtifact
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.files import FileStorage


class ReceivedFile(NamedTuple):
    """An uploaded file that is complete and durable."""

    storage_key: str
    size: int
    sha256: str
    sha1: str | None = None
    md5: str | None = None


class PackageStore(ArtifactStore):
    """Files with random keys; any number of processes may share the storage."""

    def receive_file(self, max_bytes: int, algorithms: Sequence[str] = ("sha256",)) -> "IncomingPackageFile":
        """Start an upload whose digests are computed while it is written."""
        return IncomingPackageFile(self.storage, max_bytes, algorithms)


def package_store_of(settings: Settings) -> PackageStore:
    """Return the storage of an instance's packages and images."""
    return PackageStore(file_storage(settings, "packages"))


class IncomingPackageFile(IncomingArtifact):
    """An upload in progress; ``close`` deletes it unless it was published."""

    def __init__(self, storage: FileStorage, max_bytes: int, algorithms: Sequence[str]) -> None:
        super().__init__(storage, max_bytes)
        self._digests = {name: hashlib.new(name, usedforsecurity=False) for name in algorithms}

    def write(self, piece: bytes) -> int:
        """Append bytes; raise ArtifactTooLarge beyond the limit."""
        for digest in self._digests.values():
            digest.update(piece)
        return super().write(piece)

    def digest(self, algorithm: str) -> str | None:
        """Return the digest of all that was written, or None if it was not computed."""
        digest = self._digests.get(algorithm)
        return None if digest is None else digest.hexdigest()

    def finish(self) -> ReceivedFile:
        """Store the file durably under its key, and return it."""
        self.publish()
        return ReceivedFile(self.key, self.size, self.digest("sha256") or "", self.digest("sha1"), self.digest("md5"))
