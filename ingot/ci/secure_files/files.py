"""Storage of secure files."""

from ingot.ci.encrypted_files.store import EncryptedStore
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage


def secure_file_store_of(settings: Settings) -> EncryptedStore:
    """Return the storage of an instance's secure files."""
    return EncryptedStore(file_storage(settings, "secure_files"))
