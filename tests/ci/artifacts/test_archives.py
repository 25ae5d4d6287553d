"""Reader of ZIP archives: compared with zipfile, and hostile archives."""

import io
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from ingot.ci.artifacts import archives
from ingot.ci.artifacts.archives import InvalidArchive, ZipArchive, extract, is_safe_path, open_archive
from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make


@contextmanager
def _opened(content: bytes) -> Iterator[tuple[BinaryIO, ZipArchive]]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        with open_archive(file, len(content)) as archive:
            yield file, archive


def _read(content: bytes, name: str) -> bytes | None:
    with _opened(content) as (file, archive):
        entry = archive.find(name)
        if entry is None:
            return None
        return b"".join(extract(file, entry, archive.content_offset(entry), 0, entry.size))


def test_agrees_with_zipfile() -> None:
    files = {f"folder {n % 7}/file-{n}.txt": b"content %d" % n * n for n in range(300)} | {"ünïcode": b"x", "e": b""}
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        content = zip_of(files, method)
        with _opened(content) as (_, archive):
            archive.validate()
            assert [entry.name for entry in archive.entries()] == list(files)
        assert all(_read(content, name) == expected for name, expected in files.items())
        assert _read(b"prefix" * 100 + content, "e") == b""
        assert _read(content, "file-3.txt") is None


def test_streamed_archive_with_64_bit_sizes() -> None:
    """As Go writes them: sizes after the data, and fields of 64 bits."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a", "w", force_zip64=True) as file,
    ):
        file.write(b"content")
    assert _read(buffer.getvalue(), "a") == b"content"
    content = zip_of({"a": b"content"})
    with _opened(content) as (_, opened):
        [entry] = opened.entries()
    position = content.index(b"PK\x01\x02")
    extra = struct.pack("<HHQQQ", 1, 24, entry.size, entry.packed_size, entry.offset)
    changed = bytearray(content[position : content.index(b"PK\x05\x06")])
    struct.pack_into("<LL", changed, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", changed, 30, len(extra))
    struct.pack_into("<L", changed, 42, 0xFFFFFFFF)
    changed += extra
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(changed), position)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, position + len(changed), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    assert _read(content[:position] + bytes(changed) + end64 + locator + end, "a") == b"content"


def test_repeated_name() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a", b"first")
        archive.writestr("a", b"second")
    assert _read(buffer.getvalue(), "a") == b"second"


def test_name_within_many_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_OCCURRENCES", 5)
    content = zip_of({"a": b"1", **{f"{'a' * n}b": b"2" for n in range(2, 50)}})
    assert _read(content, "a") == b"1"
    assert _read(content, "aaa") is None


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a", True),
        ("a/b..c/.d", True),
        ("a\\b", True),
        ("../a", False),
        ("a/../b", False),
        ("a/..", False),
        ("..\\a", False),
        ("/a", False),
        ("\\a", False),
        ("C:/a", False),
        ("C:\\a", False),
        ("a\0b", False),
        ("", False),
        ("a" * 5000, False),
    ],
)
def test_safe_paths(path: str, safe: bool) -> None:
    assert is_safe_path(path) is safe


def _damaged(content: bytes, mark: bytes, offset: int, value: bytes) -> bytes:
    position = content.index(mark) + offset
    return content[:position] + value + content[position + len(value) :]


def _bomb() -> bytes:
    """An archive whose entries share the data of the first one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0", bytes(2**22))
        [kernel] = archive.infolist()
        archive.filelist.extend(_copy(kernel, str(n)) for n in range(1, 400))
    return buffer.getvalue()


def _copy(info: zipfile.ZipInfo, name: str) -> zipfile.ZipInfo:
    other = zipfile.ZipInfo(name)
    for field in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
        setattr(other, field, getattr(info, field))
    return other


def _large_bomb() -> bytes:
    content = zip_of({"a": bytes(2**20)})
    return _damaged(content, b"PK\x01\x02", 24, struct.pack("<L", 0xF0000000))


HOSTILE = {
    "parent": zip_of({"../../etc/passwd": b"x"}),
    "absolute": zip_of({"/etc/passwd": b"x"}),
    "windows": zip_of({"..\\x": b"x"}),
    "overlap": _bomb(),
    "ratio": _large_bomb(),
    "no archive": b"hello",
    "empty": b"",
    "truncated": zip_of({"a": b"x"})[10:],
    "count": _damaged(zip_of({"a": b"x"}), b"PK\x05\x06", 10, b"\xff\xff"),
    "directory size": _damaged(zip_of({"a": b"x"}), b"PK\x05\x06", 12, b"\xff\xff\xff\x7f"),
    "directory offset": _damaged(zip_of({"a": b"x"}), b"PK\x05\x06", 16, b"\xff\xff\xff\x7f"),
    "name length": _damaged(zip_of({"a": b"x"}), b"PK\x01\x02", 28, b"\xff\xff"),
}


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "count"])
def test_hostile_archives_are_refused(name: str) -> None:
    with pytest.raises(InvalidArchive), _opened(HOSTILE[name]) as (_, archive):
        archive.validate()


def test_hostile_archives_over_http(make: Make, api: Api) -> None:
    rows = PipelineRows(make, "build 0")
    rows.process()
    token, job = rows.start("build"), rows.job("build")
    for name, content in HOSTILE.items():
        if name != "count":
            refused = upload(api, job.id, token, content)
            assert refused.status_code == 400, name
    assert upload(api, job.id, token, HOSTILE["parent"]).json() == {
        "message": "400 (Bad request) The archive is rejected: the path of an entry is not allowed: '../../etc/passwd'"
    }


@pytest.mark.parametrize(
    ("mark", "offset", "value"),
    [
        (b"PK\x01\x02", 42, b"\xff\xff\xff\x0f"),  # The offset of the local header.
        (b"PK\x01\x02", 20, b"\xff\xff\xff\x0f"),  # The packed size.
        (b"PK\x01\x02", 10, b"\x0c\x00"),  # The method: bzip2.
        (b"PK\x01\x02", 8, b"\x01\x00"),  # Encrypted.
        (b"PK\x01\x02", 24, b"\xff\xff\xff\x0f"),  # The size.
        (b"PK\x03\x04", 0, b"XX"),
        (b"PK\x03\x04", 26, b"\xff\xff"),  # The length of the name before the data.
        (b"PK\x03\x04", 31, b"\xff\xff\xff"),  # The data.
    ],
)
def test_damaged_entries(mark: bytes, offset: int, value: bytes) -> None:
    with pytest.raises(InvalidArchive):
        _read(_damaged(zip_of({"a": b"x" * 1000}), mark, offset, value), "a")
