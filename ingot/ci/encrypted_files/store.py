"""Storage of small files that are encrypted with the secret of the instance."""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from typing import NamedTuple

from ingot.core.db.vault import Vault
from ingot.core.errors import NotFound
from ingot.core.storage.files import FileStorage

_STORED_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{30}")


class EncryptedFile(NamedTuple):
    """A stored file."""

    storage_key: str
    size: int
    """Size of the content in bytes."""
    stored_size: int
    """Size of the encrypted file in bytes."""
    sha256: str


class EncryptedStore:
    """Files with random keys, each encrypted together with its key; any number of processes may share the storage."""

    def __init__(self, storage: FileStorage) -> None:
        self.storage = storage

    def store(self, vault: Vault, content: bytes) -> EncryptedFile:
        """Store a file durably; the sweep deletes it unless a row follows."""
        name = secrets.token_hex(16)
        key = f"{name[:2]}/{name[2:]}"
        sealed = vault.seal_file(content, key)
        path = self.storage.incoming_path()
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(sealed)
            self.storage.publish(key, path)
        finally:
            path.unlink(missing_ok=True)
        return EncryptedFile(key, len(content), len(sealed), hashlib.sha256(content).hexdigest())

    def read(self, vault: Vault, key: str) -> bytes:
        """Return the content of a file; raise NotFound if it was deleted from the storage."""
        try:
            with self.storage.open(key) as file:
                sealed = file.read()
        except FileNotFoundError:
            raise NotFound("File") from None
        return vault.unseal_file(sealed, key)

    def delete(self, key: str) -> None:
        """Delete a file, if it exists."""
        self.storage.delete(key)

    def batches(self, older_than_seconds: float) -> Iterator[list[str]]:
        """Yield the keys of all files that are older, some at a time."""
        return self.storage.key_batches(_STORED_KEY, older_than_seconds)
