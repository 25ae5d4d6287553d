"""Storage of the versions of Terraform states."""

from ingot.ci.encrypted_files.store import EncryptedStore
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage


def state_store_of(settings: Settings) -> EncryptedStore:
    """Return the storage of an instance's Terraform states."""
    return EncryptedStore(file_storage(settings, "terraform_states"))
