"""Parser of multipart/form-data bodies, on python-multipart; large files are kept on disk."""

import asyncio
from collections.abc import AsyncIterable, Callable
from tempfile import SpooledTemporaryFile
from typing import Protocol

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from ingot.core.api.params import Upload
from ingot.core.http.body_budget import BodyCharge

MAX_FIELD_BYTES = 16 * 2**20
_SPOOL_BYTES = 2**20
"""Size up to which a file stays in memory."""


class MalformedBody(ValueError):
    """Body that is not valid multipart/form-data, or exceeds a limit."""


class MultipartFile(Protocol):
    """File to which an uploaded one is written."""

    def tell(self) -> int:
        """Return the number of bytes written."""

    def write(self, data: bytes, /) -> int:
        """Append bytes."""

    def seek(self, position: int, /) -> int:
        """Set the position."""

    def close(self) -> None:
        """Close the file; it is deleted unless it was stored elsewhere."""


def _open_spooled_file() -> MultipartFile:
    return SpooledTemporaryFile(_SPOOL_BYTES)


async def parse_multipart(
    chunks: AsyncIterable[bytes],
    content_type: bytes,
    charge: BodyCharge,
    *,
    max_parts: int,
    open_file: Callable[[], MultipartFile] = _open_spooled_file,
) -> list[tuple[str, str | Upload]]:
    """Return the fields and files of a body in order; raise ``MalformedBody`` if there are too many or it is broken.

    The caller closes the files, which are at their beginning. Only bytes that stay in memory are charged.
    """
    boundary = parse_options_header(content_type)[1].get(b"boundary")
    if not boundary:
        raise MalformedBody("The boundary is missing")
    form = _Form(max_parts, open_file)
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": form.begin_part,
                "on_header_field": form.add_header_name,
                "on_header_value": form.add_header_value,
                "on_header_end": form.end_header,
                "on_headers_finished": form.end_headers,
                "on_part_data": form.add_data,
                "on_part_end": form.end_part,
            },
        )
        async for chunk in chunks:
            parser.write(chunk)
            await charge.add(form.take_memory_bytes())
            await form.write_files()
        parser.finalize()
        form.finish()
    except BaseException as error:
        form.close()
        if isinstance(error, FormParserError):
            raise MalformedBody("The body is not valid multipart/form-data") from error
        raise
    return form.items


class _Form:
    """Callbacks of the parser; they collect the data of files, which is then written outside of the callbacks."""

    def __init__(self, max_parts: int, open_file: Callable[[], MultipartFile]) -> None:
        self.items: list[tuple[str, str | Upload]] = []
        self._max_parts = max_parts
        self._open_file = open_file
        self._parts = 0
        self._in_part = False
        self._header_name = self._header_value = b""
        self._headers: dict[bytes, bytes] = {}
        self._name = ""
        self._field = bytearray()
        self._file: MultipartFile | None = None
        self._files: list[MultipartFile] = []
        self._unwritten: list[tuple[MultipartFile, bytes]] = []
        self._memory_bytes = 0

    def begin_part(self) -> None:
        self._parts += 1
        if self._parts > self._max_parts:
            raise MalformedBody("There are too many parts")
        self._in_part = True
        self._headers = {}
        self._field = bytearray()
        self._file = None

    def add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def end_header(self) -> None:
        self._headers.setdefault(self._header_name.lower(), self._header_value)
        self._header_name = self._header_value = b""

    def end_headers(self) -> None:
        options = parse_options_header(self._headers.get(b"content-disposition"))[1]
        if b"name" not in options:
            raise MalformedBody("A part has no name")
        self._name = _decoded(options[b"name"])
        if b"filename" in options:
            self._file = self._open_file()
            self._files.append(self._file)
            kind = self._headers.get(b"content-type", b"").decode("latin-1")
            self.items.append((self._name, Upload(_decoded(options[b"filename"]), kind, self._file)))

    def add_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._unwritten.append((self._file, data[start:end]))
            if self._file.tell() < _SPOOL_BYTES:
                self._memory_bytes += end - start
        elif len(self._field) + end - start > MAX_FIELD_BYTES:
            raise MalformedBody("A field is too large")
        else:
            self._field += data[start:end]
            self._memory_bytes += end - start

    def take_memory_bytes(self) -> int:
        """Return the number of bytes that were added in memory since the last call."""
        size, self._memory_bytes = self._memory_bytes, 0
        return size

    def end_part(self) -> None:
        self._in_part = False
        if self._file is None:
            self.items.append((self._name, _decoded(bytes(self._field))))

    async def write_files(self) -> None:
        """Write the collected data; in a thread where that goes to disk, which could block the event loop."""
        unwritten, self._unwritten = self._unwritten, []
        for file, data in unwritten:
            if file.tell() + len(data) > _SPOOL_BYTES:
                await asyncio.to_thread(file.write, data)
            else:
                file.write(data)

    def finish(self) -> None:
        """Set all files to their beginning; raise ``MalformedBody`` if the last part is incomplete."""
        if self._in_part:
            raise MalformedBody("The body ends too early")
        for file in self._files:
            file.seek(0)

    def close(self) -> None:
        """Close all files."""
        for file in self._files:
            file.close()


def _decoded(text: bytes) -> str:
    """Decode UTF-8; other text is taken as Latin-1, which older clients send."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")
