"""Parser of multipart bodies: order, names and kinds of parts, limits, and closed files after a failure."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ingot.core.api import multipart
from ingot.core.api.multipart import MalformedBody, parse_multipart
from ingot.core.api.params import Upload
from ingot.core.http.body_budget import BodyBudget

CONTENT_TYPE = b"multipart/form-data; boundary=x"


def part(disposition: str, content: bytes, *, kind: str = "") -> bytes:
    """Return the bytes of a part."""
    headers = f"Content-Disposition: form-data; {disposition}\r\n" + (f"Content-Type: {kind}\r\n" if kind else "")
    return b"--x\r\n" + headers.encode("latin-1") + b"\r\n" + content + b"\r\n"


def parse(body: bytes, *, size: int = 1000, max_parts: int = 10) -> list[tuple[str, Any]]:
    """Parse a body that arrives in chunks of this size; files become tuples."""

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    def opened(value: str | Upload) -> Any:
        if isinstance(value, str):
            return value
        with value.file:
            return value.filename, value.content_type, value.file.read()

    async def parsed() -> list[tuple[str, str | Upload]]:
        with BodyBudget().charge("192.0.2.1") as charge:
            return await parse_multipart(chunks(), CONTENT_TYPE, charge, max_parts=max_parts)

    items = asyncio.run(parsed())
    return [(name, opened(value)) for name, value in items]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_fields_and_files_are_parsed_in_order(size: int) -> None:
    """Independent of chunk boundaries; text that is not UTF-8 is read as Latin-1."""
    body = (
        part('name="a[]"', b"1")
        + part('name="file"; filename="b\\"c.txt"', b"\0\r\n--y", kind="text/plain")
        + part('name="a[]"', "é".encode())
        + part('name="d"', "é".encode("latin-1"))
        + part('name="empty"; filename=""', b"")
        + b"--x--\r\n"
    )
    assert parse(body, size=size) == [
        ("a[]", "1"),
        ("file", ('b"c.txt', "text/plain", b"\0\r\n--y")),
        ("a[]", "é"),
        ("d", "é"),
        ("empty", ("", "", b"")),
    ]


def test_a_large_file_is_complete() -> None:
    """A file that is spooled to disk."""
    content = bytes(range(256)) * 12_000
    body = part('name="file"; filename="f"', content) + part('name="a"', b"1") + b"--x--\r\n"
    assert parse(body, size=65_536) == [("file", ("f", "", content)), ("a", "1")]


@pytest.mark.parametrize(
    "body",
    [
        b"--y\r\n\r\n", part("", b"1") + b"--x--\r\n", part('filename="f"', b"1") + b"--x--\r\n",
        part('name="a"', b"1"), part('name="a"', b"1") * 11 + b"--x--\r\n",
        part('name="a"; filename="f"', b"1") * 11 + b"--x--\r\n", part('name="a"', b"1" * 2000) + b"--x--\r\n",
    ],
)  # fmt: skip
def test_malformed_bodies_and_too_many_parts(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The body is rejected, and files opened for it are closed."""
    files: list[Any] = []

    def opened(size: int) -> Any:
        files.append(tempfile.SpooledTemporaryFile(size))  # noqa: SIM115 - The parser closes it.
        return files[-1]

    monkeypatch.setattr(multipart, "MAX_FIELD_BYTES", 1000)
    monkeypatch.setattr(multipart, "SpooledTemporaryFile", opened)
    with pytest.raises(MalformedBody):
        parse(body)
    assert all(file.closed for file in files)
