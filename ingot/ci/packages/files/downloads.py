"""Responses with files of packages."""

from functools import partial

from ingot.ci.packages.files.store import PackageStore
from ingot.core.api.routes import ContentResponse
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.errors import NotFound


def download_response(
    store: PackageStore, storage_key: str, size: int, sha256: str, name: str, *, redirects: bool = True
) -> ContentResponse:
    """Return a response with a file, or a redirect to the bucket; raise NotFound if it was deleted from the storage."""
    url = store.download_url(storage_key) if redirects else None
    if url is None and store.size_of(storage_key) is None:
        raise NotFound("Package")
    return ContentResponse(
        f'"{sha256}"',
        size,
        partial(store.pieces, storage_key),
        "application/octet-stream",
        (content_disposition("attachment", name.rpartition("/")[2]), SANDBOX),
        location=url,
    )
