"""Bundles of large repositories in the object store, which clients download first when they clone (``bundle-uri``).

A file in the repository records that there is a bundle, and of which refs. It is read for every clone; the object store
is not asked.
"""

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path

from ingot.core.bucket_settings import BUNDLES
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.files import FileStorage
from ingot.git.core.refs import HEADS, TAGS, read_refs
from ingot.git.core.repository import Repository
from ingot.git.maintenance.bundles import write_clone_bundle

MIN_REPOSITORY_BYTES = 16 * 2**20
"""Smaller repositories are cloned as fast without a bundle."""
MIN_AGE_SECONDS = 86_400.0
"""A bundle is not written again before; clients fetch newer commits from the server."""
_STORED_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/([0-9a-f]{64})\.bundle")
_PARTIAL_SECONDS = 6 * 3600.0
_RECORD = "ingot-bundle"


class CloneBundles:
    """Bundles of repositories; none are made unless clients can reach the object store."""

    def __init__(self, files: FileStorage) -> None:
        self._files = files
        self._is_active = files.target is files.bucket and files.download_url("probe") is not None

    def update(self, repository: Repository) -> None:
        """Store a bundle of a large repository whose refs have changed since the last one."""
        record = repository.path / _RECORD
        if not self._is_active or repository.size_bytes() < MIN_REPOSITORY_BYTES or not _is_due(record):
            return
        refs = _refs_digest(repository.path)
        if record.exists() and record.read_text() == refs:
            return
        bundle = self._files.incoming_path()
        try:
            write_clone_bundle(repository.path, bundle)
            self._files.publish(_stored_key(repository.path), bundle)
        finally:
            bundle.unlink(missing_ok=True)
        record.write_text(refs)

    def url(self, path: Path) -> str | None:
        """Return the URL of the bundle of a repository, for a client that may read it; None if there is none."""
        if not self._is_active or not (path / _RECORD).exists():
            return None
        return self._files.download_url(_stored_key(path))

    def delete(self, path: Path) -> None:
        """Delete the bundle of a repository that was removed."""
        if self._is_active:
            self._files.delete(_stored_key(path))

    def sweep(self, is_in_use: Callable[[str], bool], older_than_seconds: float) -> None:
        """Delete bundles of repositories that are not in use, by the digits of their keys, and unfinished files."""
        if not self._is_active:
            return
        self._files.delete_partial_files(_PARTIAL_SECONDS)
        for keys in self._files.key_batches(_STORED_KEY, older_than_seconds):
            for key in keys:
                match = _STORED_KEY.fullmatch(key)
                if match and not is_in_use(match[1]):
                    self._files.delete(key)


def clone_bundles(settings: Settings) -> CloneBundles:
    """Return the bundles of an instance."""
    return CloneBundles(file_storage(settings, BUNDLES))


def _stored_key(path: Path) -> str:
    return f"{path.stem[:2]}/{path.stem[2:4]}/{path.stem}.bundle"


def _refs_digest(path: Path) -> str:
    refs = sorted(read_refs(path, (HEADS, TAGS)).items())
    return hashlib.sha256(b"".join(name + oid.encode() for name, oid in refs)).hexdigest()


def _is_due(record: Path) -> bool:
    try:
        return record.stat().st_mtime + MIN_AGE_SECONDS < time.time()
    except FileNotFoundError:
        return True
