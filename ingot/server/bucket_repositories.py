"""Connection of the store of repositories with the bucket and the database."""

from ingot.core.cache import CopiesSize, CopyStats
from ingot.core.db.database import Database
from ingot.core.errors import Unavailable
from ingot.core.settings import Settings
from ingot.core.storage.configuration import store_client
from ingot.core.storage.s3 import BucketDriver
from ingot.git.bucket.copy_cache import CopyCache
from ingot.git.bucket.objects import PackObjects
from ingot.git.bucket.storage import BucketRepositories
from ingot.projects.projects.api import repository_store

_PREFIX = "repositories"


def attach_bucket(settings: Settings, database: Database) -> None:
    """Let the store of this process read and write the repositories in the bucket."""
    repository_store(settings).attach(bucket_repositories(settings, database))


def copy_stats(settings: Settings) -> CopyStats:
    """Return how this process has used local copies."""
    return repository_store(settings).in_bucket.stats()


def copies_size(settings: Settings) -> CopiesSize:
    """Return the number and size of the copies on this machine."""
    return repository_store(settings).in_bucket.cache_size()


def bucket_repositories(settings: Settings, database: Database) -> BucketRepositories:
    """Return the repositories in the bucket of an instance."""
    client = store_client(settings)
    if client is None:
        raise Unavailable("There is no bucket")
    return BucketRepositories(database, PackObjects(BucketDriver(client, _PREFIX)), copy_cache(settings))


def copy_cache(settings: Settings) -> CopyCache:
    """Return the copies of repositories in the bucket that this machine has."""
    storage = settings.storage_in_bucket
    local = repository_store(settings).roots[storage]
    return CopyCache(settings.storage_directories[storage], local, settings.repository_cache_mb * 2**20)
