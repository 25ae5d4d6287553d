"""Storage of each kind of files, as the settings describe it."""

from functools import lru_cache

from ingot.core.bucket_settings import BUCKET_KINDS
from ingot.core.settings import Settings
from ingot.core.storage.files import FileStorage
from ingot.core.storage.s3 import BucketAddress, BucketDriver, StoreClient


def file_storage(settings: Settings, kind: str) -> FileStorage:
    """Return the storage of a kind of files, one of ``BUCKET_KINDS``."""
    client = store_client(settings)
    bucket = None if client is None else BucketDriver(client, kind)
    return FileStorage(settings.data / kind, bucket, in_bucket=kind in settings.kinds_in_bucket)


def store_client(settings: Settings) -> StoreClient | None:
    """Return the connections to the bucket, or None if there is none."""
    if not settings.s3_bucket:
        return None
    return _shared_client(
        BucketAddress(
            settings.s3_bucket,
            settings.s3_endpoint.rstrip("/"),
            settings.s3_public_url.rstrip("/"),
            settings.s3_region,
            settings.s3_access_key,
            settings.s3_secret_key,
        )
    )


def all_storages(settings: Settings) -> dict[str, FileStorage]:
    """Return the storages of all kinds, by kind."""
    return {kind: file_storage(settings, kind) for kind in BUCKET_KINDS}


@lru_cache(4)
def _shared_client(address: BucketAddress) -> StoreClient:
    """Return one client per process and bucket, whose connections all threads share."""
    return StoreClient(address)
