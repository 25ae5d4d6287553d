"""HTTP client of sources: documents, lists, files, and the parts that could not be read."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Any, TypeVar
from urllib.parse import urlencode

import msgspec

from ingot.core.outgoing.client import HttpResponse
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import split_url
from ingot.import_export.source import SourceError
from ingot.import_export.sources.downloads import DownloadedFile, file_name_of
from ingot.import_export.sources.failed_parts import FailedParts
from ingot.import_export.sources.paging import PageCursor, next_target, total_of
from ingot.import_export.sources.request_sender import (
    MAX_DOCUMENT_BYTES,
    MAX_FILE_BYTES,
    PARALLEL_REQUESTS,
    RequestSender,
)

MAX_PAGES = 1000
"""Pages of a list that is read as a whole, such as labels; a source could name a next page forever."""
_LONG_LIST = "The source sent a list that is too long"
_SPOOLED_BYTES = 1024 * 1024
_ABSENT = frozenset({403, 404, 405, 409, 410, 451, 501})
_DENIED = _ABSENT | {401}
_REFUSED = frozenset({401, 403, 451})
"""Statuses of parts that may exist at the source."""
_T = TypeVar("_T")
Parameters = Mapping[str, str | int | Sequence[str]]


class StatusError(SourceError):
    """The source responded with an error status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status

    @property
    def denied(self) -> bool:
        """Whether the object does not exist, is disabled, or may not be read with the token."""
        return self.status in _DENIED


class SourceClient:
    """Client of one source; its methods block and must not be called from two threads at once."""

    def __init__(
        self,
        guard: SsrfGuard,
        base_url: str,
        headers: Mapping[str, str],
        *,
        secrets: Sequence[str] = (),
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        self._base = base_url.rstrip("/")
        try:
            parts = split_url(self._base)
        except RequestRefused as error:
            raise SourceError(error.reason) from error
        self._prefix = parts.target.rstrip("/")
        # Without a token 401 is the answer to everything that is not public.
        self._absent = _ABSENT if headers.get("Authorization") else _DENIED
        self._sender = RequestSender(guard, self._base, headers, secrets, sleep)
        self._max_file_bytes = max_file_bytes
        self._runner = asyncio.Runner()
        self._failed = FailedParts()

    @property
    def requests(self) -> int:
        """Number of requests sent."""
        return self._sender.requests

    def target(self, path: str, parameters: Parameters | None = None) -> str:
        """Return the path and query of a request; ``path`` is below the base URL and is already encoded."""
        query = urlencode(parameters or {}, doseq=True)
        return f"{self._prefix}{path}?{query}" if query else f"{self._prefix}{path}"

    def url(self, path: str) -> str:
        """Return the absolute URL of a path below the base URL."""
        return f"{self._base}{path}"

    def convert(self, document: Any, shape: type[_T]) -> _T:
        """Return a decoded document as a struct."""
        try:
            return msgspec.convert(document, shape)
        except msgspec.ValidationError as error:
            raise SourceError(f"The source sent an unexpected document: {error}") from error

    def get(self, path: str, shape: type[_T], parameters: Parameters | None = None) -> _T:
        """Return a document; raise ``StatusError`` if the source refuses it."""
        return self._decode(self._run(self._sender.request(self.target(path, parameters))), shape)

    def get_or_none(self, path: str, shape: type[_T], parameters: Parameters | None = None) -> _T | None:
        """Return a document, or None if it does not exist or cannot be read, which is a problem."""
        try:
            return self.get(path, shape, parameters)
        except SourceError as error:
            self._count_failure(path, error)
            return None

    def post(self, path: str, body: Any, shape: type[_T]) -> _T:
        """Send a document, such as a GraphQL query, and return the response's document."""
        return self._decode(self._run(self._sender.request(self.target(path), body=msgspec.json.encode(body))), shape)

    def total(self, path: str, parameters: Parameters | None = None) -> int | None:
        """Return the number of entries of a list, or None if the source does not name it; one request."""
        response = self._run(self._sender.request(self.target(path, {**(parameters or {}), "per_page": 1, "limit": 1})))
        self._require_success(response)
        return total_of(response)

    def page(self, target: str, shape: type[_T]) -> tuple[list[_T], str | None]:
        """Return a page of a list, and the target of the next one."""
        response = self._run(self._sender.request(target))
        entries = self._decode(response, list[shape] | None)  # type: ignore[arg-type, valid-type] # Built here.
        return entries or [], next_target(response, target)

    def pages(self, path: str, shape: type[_T], parameters: Parameters | None = None) -> Iterator[list[_T]]:
        """Yield the pages of a list."""
        target: str | None = self.target(path, parameters)
        while target is not None:
            entries, target = self.page(target, shape)
            yield entries

    def parts(self, first: str, shape: type[_T], cursor: str | None, size: int) -> Iterator[tuple[list[_T], str]]:
        """Yield parts of the pages of a list after a cursor, and the cursor after each part."""
        position = PageCursor(first) if cursor is None else PageCursor.parse(cursor)
        while position.target:
            entries, following = self.page(position.target, shape)
            for start in range(position.read, len(entries), size):
                part = entries[start : start + size]
                position = PageCursor(position.target, start + len(part))
                if position.read == len(entries):
                    position = PageCursor(following or "")
                yield part, position.text()
            if position.read or not entries:
                # The page has no entries after the cursor.
                position = PageCursor(following or "")

    def entries(self, path: str, shape: type[_T], parameters: Parameters | None = None) -> list[_T]:
        """Return all entries of a list."""
        collected: list[_T] = []
        for number, page in enumerate(self.pages(path, shape, parameters)):
            if number == MAX_PAGES:
                raise SourceError(_LONG_LIST)
            collected += page
        return collected

    def entries_or_none(self, path: str, shape: type[_T], parameters: Parameters | None = None) -> list[_T] | None:
        """Return all entries of a list, or None if it does not exist or cannot be read, which is a problem."""
        try:
            return self.entries(path, shape, parameters)
        except SourceError as error:
            self._count_failure(path, error)
            return None

    def lists(self, targets: Sequence[str], shape: type[_T]) -> list[list[_T]]:
        """Return all entries of each list, with a few requests at a time.

        The list of an object that does not exist is empty. One that cannot be read is empty, too, which is a problem. A
        token that was revoked meanwhile is an error.
        """
        decoder: msgspec.json.Decoder[list[_T] | None] = msgspec.json.Decoder(list[shape] | None)  # type: ignore[valid-type] # Built here.

        async def read(target: str) -> list[_T]:
            collected: list[_T] = []
            try:
                await read_pages(target, collected)
            except SourceError as error:
                self._count_failure(target, error)
            return collected

        async def read_pages(target: str | None, collected: list[_T]) -> None:
            size = 0
            while target is not None:
                response = await self._sender.request(target)
                self._require_success(response)
                entries = self._decoded(response, decoder)
                size += len(response.body)
                if size > MAX_DOCUMENT_BYTES:
                    raise SourceError(_LONG_LIST)
                # Gitea sends null for some lists without entries.
                collected += entries or []
                target = next_target(response, target)

        return self._parallel(read, targets)

    def documents(self, targets: Sequence[str], shape: type[_T]) -> list[_T]:
        """Return documents, with a few requests at a time, without those that do not exist or cannot be read."""

        async def read(target: str) -> list[_T]:
            try:
                return [self._decode(await self._sender.request(target), shape)]
            except SourceError as error:
                self._count_failure(target, error)
                return []

        return [document for found in self._parallel(read, targets) for document in found]

    def _parallel(self, read: Callable[[str], Coroutine[Any, Any, list[_T]]], targets: Sequence[str]) -> list[list[_T]]:
        limit = asyncio.Semaphore(PARALLEL_REQUESTS)

        async def limited(target: str) -> list[_T]:
            async with limit:
                return await read(target)

        async def read_all() -> list[list[_T]]:
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(limited(target)) for target in targets]
            return [task.result() for task in running]

        try:
            return self._run(read_all()) if targets else []
        except ExceptionGroup as group:
            # The other requests were cancelled; the first failure says why.
            raise group.exceptions[0] from None

    def open_file(self, url: str, headers: Mapping[str, str] | None = None) -> AbstractContextManager[IO[bytes]] | None:
        """Open the file at an absolute URL, or return None if the source does not deliver it."""
        opened = self.download(url, headers)
        try:
            file = opened.__enter__()
        except SourceError as error:
            if error.retry_after is not None and not self._failed.include_temporary:
                raise
            return None  # The caller reports the file.
        return _reopened(opened, file)

    @contextmanager
    def download(self, url: str, headers: Mapping[str, str] | None = None) -> Iterator[IO[bytes]]:
        """Open the file at an absolute URL; raise ``StatusError`` if the source refuses it."""
        max_bytes = self._max_file_bytes
        with DownloadedFile(_SPOOLED_BYTES) as file:

            def store(status: int, chunk: bytes) -> None:
                if status == 200:
                    if file.tell() + len(chunk) > max_bytes:
                        raise SourceError(f"A file is larger than {max_bytes >> 20} MiB")
                    file.write(chunk)

            def restart() -> None:
                file.seek(0)
                file.truncate()

            response = self._run(self._sender.request(url, headers=headers or {}, sink=store, restart=restart))
            self._require_success(response)
            if response.truncated:
                raise SourceError(f"A file is larger than {max_bytes >> 20} MiB")
            file.seek(0)
            file.file_name = file_name_of(response)
            yield file

    def skip_failures(self, path: str) -> None:
        """Count temporary failures of parts as problems, too, until these are taken; raise if ``path`` fails itself."""
        self._require_success(self._run(self._sender.request(self.target(path))))
        self._failed.include_temporary = True

    def take_problems(self) -> list[str]:
        """Return sentences about the parts that could not be read since the last call."""
        return self._failed.take()

    def omission_of(self, title: str, error: SourceError) -> str:
        """Return the sentence about a kind that cannot be counted; raise the error if a later attempt may succeed."""
        if isinstance(error, StatusError) and error.denied:
            return f"{title}: disabled at the source, or the token may not read them."
        if error.retry_after is not None and not self._failed.include_temporary:
            raise error
        return f"{title} cannot be read: {error.reason.rstrip('.')}."

    def _count_failure(self, target: str, error: SourceError) -> None:
        """Count a part that cannot be read, unless it does not exist; raise if the token is refused."""
        if isinstance(error, StatusError) and error.status in self._absent:
            if error.status in _REFUSED:
                self._failed.add(target, error)
        elif isinstance(error, StatusError) and error.status == 401:
            raise error
        else:
            self._failed.add(target, error)

    def close(self) -> None:
        """Close all connections."""
        if self._sender.has_connections:
            self._run(self._sender.close())
        self._runner.close()

    def _run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        return self._runner.run(coroutine)

    def _decode(self, response: HttpResponse, shape: type[_T]) -> _T:
        self._require_success(response)
        return self._decoded(response, msgspec.json.Decoder(shape))

    def _decoded(self, response: HttpResponse, decoder: "msgspec.json.Decoder[_T]") -> _T:
        if response.truncated:
            raise SourceError("The source sent a document that is too large")
        try:
            return decoder.decode(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # The text names a field and types, never the data itself.
            raise SourceError(f"The source sent an unexpected document: {error}") from error

    def _require_success(self, response: HttpResponse) -> None:
        if response.status == 401:
            raise StatusError(401, "The source refused the token")
        if response.status == 403:
            raise StatusError(403, "The token lacks a permission at the source")
        if response.status == 404:
            raise StatusError(404, "The source has no such object, or the token may not read it")
        if not 200 <= response.status < 300:
            raise StatusError(response.status, f"The source answered with status {response.status}")


@contextmanager
def _reopened(manager: AbstractContextManager[IO[bytes]], file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a file that is open already, and close it afterwards."""
    try:
        yield file
    finally:
        manager.__exit__(None, None, None)
