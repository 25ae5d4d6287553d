"""Checks of the settings of the bucket and of repository storages; only the standard library is imported here."""

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ingot.core.settings import Settings

BUCKET_KINDS = (
    "lfs",
    "uploads",
    "artifacts",
    "packages",
    "traces",
    "secure_files",
    "terraform_states",
    "pages",
    "backups",
    "exports",
)
"""Kinds of files that can be stored in a bucket; the name of each is also that of its directory."""
BUNDLES = "bundles"
"""Kind of files that exist only in a bucket: bundles of repositories, which are made again if they are lost."""
BUCKET_PATH = "bucket"
"""Path of the repository storage that is in the bucket."""
_STORAGE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def repository_storages_error_or_none(settings: "Settings") -> str | None:
    """Return why the repository storages cannot be used, or None."""
    for name, directory in settings.storage_directories.items():
        is_absolute = directory.is_absolute() or (name == settings.storage_in_bucket and not settings.repository_cache)
        if not _STORAGE_NAME.fullmatch(name) or name == "default" or not is_absolute:
            return "repository_storages must look like fast=/mnt/fast,archive=/mnt/archive,cloud=bucket"
    if settings.storage_in_bucket and not settings.s3_bucket:
        return "repository_storages: a storage in the bucket needs s3_bucket"
    return None


def bucket_error_or_none(settings: "Settings") -> str | None:
    """Return why the bucket cannot be used, or None."""
    known = (*BUCKET_KINDS, BUNDLES)
    unknown = set(settings.kinds_in_bucket) - set(known)
    if unknown:
        return f"object_storage: {min(unknown)!r} is not one of {', '.join(known)}, all"
    if settings.object_storage and not settings.s3_bucket:
        return "object_storage needs s3_bucket"
    for name in ("s3_endpoint", "s3_public_url"):
        parts = urlsplit(getattr(settings, name))
        if getattr(settings, name) and (parts.scheme not in ("http", "https") or not parts.hostname):
            return f"{name} must look like https://s3.example.org"
    if bool(settings.s3_access_key) != bool(settings.s3_secret_key):
        return "s3_access_key and s3_secret_key must be given together"
    if settings.s3_bucket and find_spec("obstore") is None:
        return "s3_bucket needs the package obstore, which is not installed: pip install 'ingot-forge[s3]'"
    return None
