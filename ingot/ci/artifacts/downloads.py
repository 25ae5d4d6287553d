"""Responses with artifacts: a whole file, or one file of an archive."""

import io
import mimetypes
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, TypeVar

from ingot.ci.artifacts.archives import (
    ArchiveEntry,
    FolderItem,
    InvalidArchive,
    TreeItem,
    ZipArchive,
    extract,
    is_safe_path,
    open_archive,
)
from ingot.ci.artifacts.store import ArtifactStore
from ingot.ci.artifacts.tables import JobArtifact
from ingot.core.api.routes import ContentResponse
from ingot.core.errors import Invalid, NotFound
from ingot.core.http.content_headers import SANDBOX, content_disposition

T = TypeVar("T")
_CONTENT_TYPES = {"zip": "application/zip", "gzip": "application/gzip", "raw": "application/octet-stream"}


def file_response(store: ArtifactStore, artifact: JobArtifact, *, redirects: bool = True) -> ContentResponse:
    """Return a response with a whole file, for download; raise NotFound if it was deleted from the storage.

    The response redirects to the bucket if that has the file, unless the client cannot follow redirects.
    """
    url = store.download_url(artifact.storage_key) if redirects else None
    size = artifact.size if url else store.size_of(artifact.storage_key)
    if size is None:
        raise NotFound("Artifact")
    return ContentResponse(
        f'"{artifact.storage_key}"',
        size,
        partial(store.pieces, artifact.storage_key),
        _CONTENT_TYPES[artifact.file_format],
        (content_disposition("attachment", artifact.filename), SANDBOX),
        location=url,
    )


def entry_response(store: ArtifactStore, artifact: JobArtifact, path: str) -> ContentResponse:
    """Return a response with one file of an archive, for download; only this file is decompressed.

    Raise Invalid for a path that leaves the archive, and NotFound if the archive has no such file.
    """
    if not is_safe_path(path):
        raise Invalid("400 Bad request")
    with _opened(store, artifact) as file:
        try:
            with open_archive(file, file.seek(0, io.SEEK_END)) as archive:
                entry = archive.find(path)
                if entry is None:
                    raise NotFound("Artifact")
                offset = archive.content_offset(entry)
        except InvalidArchive as error:
            raise Invalid(f"400 (Bad request) The archive cannot be read: {error}") from None
    name = path.rpartition("/")[2]
    return ContentResponse(
        f'"{artifact.storage_key}-{entry.offset:x}-{entry.crc:x}"',
        entry.size,
        partial(_entry_pieces, store, artifact.storage_key, entry, offset),
        mimetypes.guess_type(name)[0] or "application/octet-stream",
        (content_disposition("attachment", name), SANDBOX),
    )


def read_entry(store: ArtifactStore, artifact: JobArtifact, path: str, limit: int) -> bytes:
    """Return one file of an archive; raise NotFound or Invalid if there is none or if it is larger than the limit."""
    response = entry_response(store, artifact, path)
    size = response.size or 0
    if size > limit:
        raise Invalid("400 (Bad request) The file is too large")
    return b"".join(response.pieces(0, size))


def list_archive_folder(store: ArtifactStore, artifact: JobArtifact, path: str) -> list[FolderItem]:
    """Return the files and folders in a folder of an archive; raise NotFound if there is no such folder."""
    return _listed(store, artifact, path, lambda archive: archive.list_folder(path))


def list_archive_tree(store: ArtifactStore, artifact: JobArtifact, path: str, *, recursive: bool) -> list[TreeItem]:
    """Return what is in a folder of an archive, or all below it; raise NotFound if there is no such folder."""
    return _listed(store, artifact, path, lambda archive: archive.list_tree(path, recursive=recursive))


def _listed(
    store: ArtifactStore, artifact: JobArtifact, path: str, read: Callable[[ZipArchive], list[T] | None]
) -> list[T]:
    if path.strip("/") and not is_safe_path(path.strip("/")):
        raise Invalid("400 Bad request")
    with _opened(store, artifact) as file:
        try:
            with open_archive(file, file.seek(0, io.SEEK_END)) as archive:
                items = read(archive)
        except InvalidArchive as error:
            raise Invalid(f"400 (Bad request) The archive cannot be read: {error}") from None
    if items is None:
        raise NotFound("Artifact")
    return items


def _opened(store: ArtifactStore, artifact: JobArtifact) -> BinaryIO:
    try:
        return store.open(artifact.storage_key)
    except FileNotFoundError:  # Deleted from the storage.
        raise NotFound("Artifact") from None


def _entry_pieces(
    store: ArtifactStore, key: str, entry: ArchiveEntry, offset: int, start: int, stop: int
) -> Iterator[bytes]:
    with store.open(key) as file:
        yield from extract(file, entry, offset, start, stop)
