"""Files in a bucket of an S3-compatible object store.

obstore is imported when the first file is used. Measured against boto3: 26 instead of 490 ms to import, 10 instead of
49 MB, and 0.2 instead of 2.8 ms of processor time for a small file.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed
from ingot.core.storage.drivers import INCOMING_FOLDER, StoredObject

if TYPE_CHECKING:
    from obstore.store import S3Store

URL_SECONDS = 900
"""Time for which a client may begin to use a signed URL."""
_CONNECT_SECONDS = 3
_REQUEST_SECONDS = 60
"""Limit of one request; those of the server transfer at most one part."""
_RETRY_SECONDS = 10
_MAX_RETRIES = 4
"""A store under load may respond with an error for a second."""
_PART_BYTES = 16 * 2**20
_READ_BYTES = 4 * 2**20
"""Size of the ranges in which objects are read, so that a slow client occupies no connection to the store."""
_BUFFER_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """Address and credentials of a bucket."""

    bucket: str
    endpoint: str = ""
    """URL of the store; empty for that of AWS."""
    public_url: str = ""
    """URL under which clients reach the store; empty if they cannot."""
    region: str = "us-east-1"
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)


class StoreClient:
    """Connections to a bucket, shared by the threads of one process."""

    def __init__(self, address: BucketAddress) -> None:
        self.address = address

    @cached_property
    def requests(self) -> "S3Store":
        """The store for requests of the server."""
        return self._store(self.address.endpoint)

    @cached_property
    def signer(self) -> "S3Store":
        """The store whose URLs are signed for clients; the server does not connect to it."""
        return self._store(self.address.public_url)

    def _store(self, endpoint: str) -> "S3Store":
        from obstore.store import S3Store

        options: dict[str, Any] = {}
        if endpoint:
            options["endpoint"] = endpoint
        if self.address.access_key:
            options["access_key_id"] = self.address.access_key
            options["secret_access_key"] = self.address.secret_key
        return S3Store(
            self.address.bucket,
            region=self.address.region,
            virtual_hosted_style_request=False,
            # The store compares every upload with it.
            checksum_algorithm="SHA256",
            client_options={
                "allow_http": endpoint.startswith("http:"),
                "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
                "timeout": timedelta(seconds=_REQUEST_SECONDS),
            },
            retry_config={"max_retries": _MAX_RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
            **options,
        )

    def check(self) -> None:
        """Raise Unavailable if the bucket cannot be listed."""
        import obstore

        with translated_errors():
            for _ in obstore.list(self.requests, chunk_size=1):
                break


class BucketDriver:
    """Files of one kind in a bucket, under a prefix of their own."""

    name = "bucket"

    def __init__(self, client: StoreClient, prefix: str) -> None:
        self._client = client
        self._prefix = f"{prefix}/"

    def size_of(self, key: str) -> int | None:
        """Return the size of an object, or None if it does not exist."""
        try:
            return int(self._head(key)["size"])
        except FileNotFoundError:
            return None

    def modified_at(self, key: str) -> float | None:
        """Return the time of the last change of an object in seconds since 1970, or None if it does not exist."""
        try:
            return float(self._head(key)["last_modified"].timestamp())
        except FileNotFoundError:
            return None

    def open(self, key: str) -> BinaryIO:
        """Open an object for reading; raise FileNotFoundError if it does not exist."""
        size = self.size_of(key)
        if size is None:
            raise FileNotFoundError(key)
        return io.BufferedReader(_ObjectReader(self, key, size), _BUFFER_BYTES)

    def pieces(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Yield a byte range of an object."""
        if start >= stop and self.size_of(key) is None:
            raise FileNotFoundError(key)
        while start < stop:
            piece = self.read(key, start, min(start + _READ_BYTES, stop))
            start += len(piece)
            yield piece

    def read(self, key: str, start: int, stop: int) -> bytes:
        """Return a byte range of an object, which must not be empty; raise FileNotFoundError if there is none."""
        import obstore

        require_blocking_allowed()
        with translated_errors():
            return bytes(obstore.get_range(self._client.requests, self._prefix + key, start=start, end=stop))

    def publish(self, key: str, path: Path) -> None:
        """Upload a local file, whose checksum the store verifies, and delete it."""
        self.upload(key, path)
        path.unlink(missing_ok=True)

    def upload(self, key: str, path: Path) -> None:
        """Upload a local file, whose checksum the store verifies."""
        import obstore

        require_blocking_allowed()
        with translated_errors():
            obstore.put(self._client.requests, self._prefix + key, path, chunk_size=_PART_BYTES, max_concurrency=4)

    def delete(self, key: str) -> None:
        """Delete an object, if it exists."""
        import obstore

        require_blocking_allowed()
        try:
            with translated_errors():
                obstore.delete(self._client.requests, self._prefix + key)
        except FileNotFoundError:  # Some stores report it.
            pass

    def objects(self, folder: str = "") -> Iterator[StoredObject]:
        """Yield all complete objects, or those below a folder."""
        for stored in self._listed(folder):
            if not stored.key.startswith(f"{INCOMING_FOLDER}/"):
                yield stored

    def incoming(self) -> Iterator[StoredObject]:
        """Yield the objects that clients have uploaded and that were not accepted yet."""
        return self._listed(INCOMING_FOLDER)

    def rename(self, key: str, new_key: str) -> None:
        """Copy an object within the store and delete the original."""
        import obstore

        require_blocking_allowed()
        with translated_errors():
            obstore.copy(self._client.requests, self._prefix + key, self._prefix + new_key)
        self.delete(key)

    def signed_url(self, method: Literal["GET", "PUT"], key: str) -> str | None:
        """Return a URL with which a client reads or writes an object; None if clients cannot reach the store."""
        import obstore

        if not self._client.address.public_url:
            return None
        return obstore.sign(self._client.signer, method, self._prefix + key, timedelta(seconds=URL_SECONDS))

    def _listed(self, folder: str) -> Iterator[StoredObject]:
        import obstore

        require_blocking_allowed()
        with translated_errors():
            for page in obstore.list(self._client.requests, self._prefix + folder):
                for entry in page:
                    key = entry["path"].removeprefix(self._prefix)
                    yield StoredObject(key, entry["size"], entry["last_modified"].timestamp())

    def _head(self, key: str) -> Any:
        import obstore

        require_blocking_allowed()
        with translated_errors():
            return obstore.head(self._client.requests, self._prefix + key)


class _ObjectReader(io.RawIOBase):
    """Reader of an object; each read is a request, so it needs a buffer."""

    def __init__(self, driver: BucketDriver, key: str, size: int) -> None:
        self._driver, self._key, self._size = driver, key, size
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position."""
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes; return their number, 0 at the end."""
        stop = min(self._position + len(buffer), self._size)
        if self._position >= stop:
            return 0
        piece = self._driver.read(self._key, self._position, stop)
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise Unavailable for every error of the store, except FileNotFoundError for a missing object.

    The text of an error is not passed on, because it contains URLs.
    """
    from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

    try:
        yield
    except (PermissionDeniedError, UnauthenticatedError) as error:
        log_failure("object store refused a request", error)
        raise Unavailable("The object store refuses the credentials") from error
    except BaseError as error:
        log_failure("object store not available", error)
        raise Unavailable("The object store or its bucket is not available") from error
