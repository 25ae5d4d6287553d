"""Storage of the files of exports as ``ab/cd/<rest of the key>``; files appear only when they are complete."""

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.files import FileStorage

SCRATCH_PREFIX = "export-"
_SCRATCH_SECONDS = 86_400
_STORED_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}")


class WrittenFile(NamedTuple):
    """Key and size of a new file, and the result of the function that wrote it."""

    key: str
    size: int
    result: int


def export_store_of(settings: Settings) -> "ExportStore":
    """Return the storage of an instance's exports."""
    return ExportStore(file_storage(settings, "exports"))


class ExportStore:
    """Files of exports, each with a random key; any number of processes may share the storage."""

    def __init__(self, storage: FileStorage) -> None:
        self.storage = storage

    @property
    def scratch(self) -> Path:
        """Folder for files that are parts of an archive, on the disk of the storage."""
        return self.storage.incoming_folder()

    def write(self, write: Callable[[BinaryIO], int]) -> WrittenFile:
        """Store what a function writes, when it has returned; delete it if the function raises."""
        path = self.storage.incoming_path()
        try:
            with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
                result = write(file)
                file.flush()
                size = file.seek(0, os.SEEK_END)
            key = _key_of(secrets.token_hex(16))
            self.storage.publish(key, path)
        finally:
            path.unlink(missing_ok=True)
        return WrittenFile(key, size, result)

    def delete_remains(self, older_than_seconds: float) -> None:
        """Delete incomplete files, and folders that were left by a crash more than a day ago."""
        self.storage.delete_partial_files(older_than_seconds)
        cutoff = time.time() - _SCRATCH_SECONDS
        for folder in self.scratch.glob(f"{SCRATCH_PREFIX}*"):
            if folder.stat().st_mtime <= cutoff:
                shutil.rmtree(folder, ignore_errors=True)

    def batches(self, older_than_seconds: float) -> Iterator[list[str]]:
        """Yield the keys of all files that are older, some at a time."""
        return self.storage.key_batches(_STORED_KEY, older_than_seconds)


def _key_of(digits: str) -> str:
    return f"{digits[:2]}/{digits[2:4]}/{digits[4:]}"
