"""Responses with files of packages."""

from concurrent.futures import Executor
from functools import partial

from ingot.core.api.routes import ContentResponse
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.last_uses import LastUseTracker
from ingot.core.errors import NotFound
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.packages.files.ports import PackageDownloads
from ingot.packages.files.store import PackageStore
from ingot.packages.records.tables import PackageFile, packages


def download_tracker(database: Database, writer: Executor) -> LastUseTracker:
    """Return the tracker of the downloads of packages that a worker serves."""
    return LastUseTracker(database, writer, packages.c.last_downloaded_at)


def download_response(db: Connection, store: PackageStore, file: PackageFile) -> ContentResponse:
    """Return a response with a file, or a redirect to the bucket, and record the download of its package.

    Raise NotFound if the file was deleted from the storage.
    """
    url = store.download_url(file.storage_key)
    if url is None and store.size_of(file.storage_key) is None:
        raise NotFound("Package")
    db.ports[PackageDownloads].note(file.package_id)
    return ContentResponse(
        f'"{file.sha256}"',
        file.size,
        partial(store.pieces, file.storage_key),
        "application/octet-stream",
        (content_disposition("attachment", file.file_name.rpartition("/")[2]), SANDBOX),
        location=url,
    )
