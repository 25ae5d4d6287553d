"""Tests of archives that are refused."""

import gzip
import shutil
import tarfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ingot.import_export.records import KINDS
from ingot.import_export.source import SourceError
from ingot.import_export.sources.archive import unpacked_archive
from ingot.import_export.sources.archive.opening import open_archive, open_group_archive
from ingot.import_export.sources.archive.unpacked_archive import UnpackedArchive
from tests.transfers.exports.archives import VALID, compressed_zeros, entry_of, write_archive


def refusal(path: Path) -> str:
    """Read everything of an archive; return the reason why it is refused, and check that nothing is left."""
    with pytest.raises(SourceError) as raised:
        source = open_archive(path)
        try:
            for kind in KINDS:
                for _ in source.batches(kind, None, None):
                    pass
        finally:
            source.close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    return raised.value.reason


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (tarfile.TarInfo("../escape"), "name that is not allowed"),
        (tarfile.TarInfo("/etc/passwd"), "name that is not allowed"),
        (tarfile.TarInfo("tree/../../escape"), "name that is not allowed"),
        (tarfile.TarInfo("uploads/a\nb"), "name that is not allowed"),
        (tarfile.TarInfo("uploads/..\\x"), "name that is not allowed"),
        (tarfile.TarInfo("u/" * 600), "name that is not allowed"),
        (tarfile.TarInfo("VERSION"), "twice"),
        (entry_of("uploads/link", tarfile.SYMTYPE, "/etc/passwd"), "link or a special file"),
        (entry_of("uploads/hard", tarfile.LNKTYPE, "VERSION"), "link or a special file"),
        (entry_of("device", tarfile.CHRTYPE), "link or a special file"),
        (entry_of("pipe", tarfile.FIFOTYPE), "link or a special file"),
        (tarfile.TarInfo("n" * 2_000_000), "damaged"),
    ],
)
def test_entries_that_are_refused(tmp_path: Path, entry: tarfile.TarInfo, reason: str) -> None:
    """Names that leave the archive, links, devices and headers without end are refused."""
    assert reason in refusal(write_archive(tmp_path / "a.tar.gz", VALID, entry))


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "VERSION is missing"),
        ({"VERSION": b"0.1.5"}, "not supported"),
        ({"VERSION": b"0.1.8", "project.json": b"[]"}, "project.json in the archive is not valid"),
        ({"VERSION": b"0.1.8", "project.json": b"[" * 50_000}, "project.json in the archive is not valid"),
        ({"VERSION": b"0.1.8", "project.json": b'{"issues":[{]}'}, "project.json in the archive is not valid"),
        ({"VERSION": b"9" * 60}, "not supported"),
        ({"VERSION": b"0.2.4" * 100}, "too large"),
        ({"VERSION": b"0.2.4"}, "tree/project.json is missing"),
        ({**VALID, "tree/project.json": b"[]"}, "not valid"),
        ({**VALID, "tree/project.json": b"[" * 50_000}, "not valid"),
    ],
)
def test_contents_that_are_refused(tmp_path: Path, files: Mapping[str, bytes], reason: str) -> None:
    """Missing files and invalid attributes of the project are refused."""
    assert reason in refusal(write_archive(tmp_path / "a.tar.gz", files))


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({**VALID, "tree/project/issues.ndjson": b'{"iid":"1","title":"t"}'}, "line 1"),
        ({**VALID, "tree/project/issues.ndjson": b'{"iid":1,"title":"t"}\n{"iid":2,"title":7}'}, "line 2"),
        ({**VALID, "tree/project/issues.ndjson": b'{"iid":99999999999999999999,"title":"t"}'}, "not valid"),
        ({**VALID, "tree/project/issues.ndjson": b'{"iid":1,"title":"\xff"}'}, "not valid"),
        ({**VALID, "tree/project/issues.ndjson": b'{"iid":1,"title":"t","notes":{}}'}, "not valid"),
        ({**VALID, "tree/project/hooks.ndjson": b'{"url":null}'}, "not valid"),
    ],
)
def test_lines_that_are_left_out(tmp_path: Path, files: Mapping[str, bytes], reason: str) -> None:
    """Values of another type are reported with their place, and the other lines are read."""
    path = write_archive(tmp_path / "a.tar.gz", files)
    with closing(open_archive(path)) as source:
        count = sum(len(batch.records) for kind in KINDS[1:] for batch in source.batches(kind, None, None))
        (problem,) = source.take_problems()
    assert reason in problem
    assert count == sum(content.count(b"\n") for content in files.values())


def test_limits_of_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long lines, many entries, and archives that grow too much when they are decompressed are refused."""
    monkeypatch.setattr(unpacked_archive, "MAX_LINE_BYTES", 100_000)
    line = b'{"iid":1,"title":"t","description":"' + b"x" * 100_000 + b'"}\n'
    long_line = write_archive(tmp_path / "a.tar.gz", {**VALID, "tree/project/issues.ndjson": line})
    assert "too long" in refusal(long_line)
    monkeypatch.setattr(unpacked_archive, "MAX_ENTRIES", 5)
    many = {f"uploads/{number}": b"" for number in range(10)}
    assert "too many files" in refusal(write_archive(tmp_path / "a.tar.gz", {**VALID, **many}))
    assert "too large when it is decompressed" in refusal(compressed_zeros(tmp_path / "a.tar.gz", 96 * 2**20))


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x", "GNU.sparse.realsize": "1"}
BLOCK = 512


def block_of(kind: bytes, content: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """Return the blocks of an entry."""
    entry = tarfile.TarInfo("uploads/x")
    entry.type, entry.size, entry.pax_headers = kind, len(content), dict(headers or {})
    return entry.tobuf(tarfile.PAX_FORMAT) + content + bytes(-len(content) % BLOCK)


def old_sparse_map(extensions: int) -> bytes:
    """Return a sparse file in GNU's old format, whose map continues in further blocks."""
    head = bytearray(block_of(tarfile.GNUTYPE_SPARSE)[:BLOCK])
    head[257:265] = tarfile.GNU_MAGIC
    head[482], head[483:495] = 1, b"00000000001\0"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + (bytes(504) + b"\1" + bytes(7)) * extensions + bytes(BLOCK)


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (block_of(tarfile.REGTYPE, b"1\n0\n0\n", SPARSE), "link or a special file"),
        (block_of(tarfile.REGTYPE, b"", {"GNU.sparse.map": "0,0", "GNU.sparse.size": "1"}), "link or a special file"),
        (old_sparse_map(2), "link or a special file"),
        (block_of(tarfile.REGTYPE, b"100000\n" + b"0\n" * 200_000, SPARSE), "damaged"),
        (block_of(tarfile.REGTYPE, b"", {"GNU.sparse.map": "0," * 99_999 + "0", "GNU.sparse.size": "1"}), "damaged"),
        (old_sparse_map(1000), "damaged"),
        (block_of(tarfile.XHDTYPE, b"12 a=bcdefg\n") * 2000, "damaged"),
        (block_of(tarfile.GNUTYPE_LONGNAME, b"x\0") * 2000, "damaged"),
    ],
)
def test_sparse_files_and_endless_headers_are_refused(tmp_path: Path, blocks: bytes, reason: str) -> None:
    """Attack: 40 kB whose map of a sparse file has a million parts, and chains of extended headers."""
    path = write_archive(tmp_path / "a.tar.gz", VALID)
    content = gzip.decompress(path.read_bytes()).rstrip(b"\0")
    path.write_bytes(gzip.compress(content + bytes(-len(content) % BLOCK) + blocks + bytes(2 * BLOCK)))
    assert reason in refusal(path)


def test_an_archive_of_folders_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: folders without end, which are no files."""
    monkeypatch.setattr(unpacked_archive, "MAX_ENTRIES", 5)
    folders = [entry_of(f"tree/{number}", tarfile.DIRTYPE) for number in range(10)]
    assert "too many files" in refusal(write_archive(tmp_path / "a.tar.gz", VALID, *folders))


def test_an_archive_that_is_allowed_to_grow_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: 1 GB that becomes 100 GB, a hundred times its size."""
    monkeypatch.setattr(unpacked_archive, "MAX_DECOMPRESSED_BYTES", 32 * 2**20)
    assert "too large when it is decompressed" in refusal(compressed_zeros(tmp_path / "a.tar.gz", 33 * 2**20))


def test_copies_of_files_leave_disk_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: the decompressed archive fits on the disk, the copy of its largest file does not."""
    path = write_archive(tmp_path / "a.tar.gz", {**VALID, "project.bundle": b"x" * 100_000})
    with closing(UnpackedArchive(path)) as archive:
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2**20))
        with pytest.raises(SourceError, match="no free disk space"):
            archive.extract("project.bundle")
        monkeypatch.undo()
        assert archive.extract("project.bundle").stat().st_size == 100_000


def test_archives_in_archives_stay_closed(tmp_path: Path) -> None:
    """Attack: an archive that contains itself, as an upload."""
    inner = compressed_zeros(tmp_path / "inner.tar.gz", 2**20).read_bytes()
    with closing(
        UnpackedArchive(write_archive(tmp_path / "a.tar.gz", {**VALID, "uploads/a.tar.gz": inner}))
    ) as archive:
        assert archive.extract("uploads/a.tar.gz").read_bytes() == inner
        assert archive.names("uploads/") == ["uploads/a.tar.gz"]


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    """Files of other formats, cut archives and archives of another kind are refused."""
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"PK\x03\x04 not an archive")
    assert "not an export archive" in refusal(path)
    path.write_bytes(b"")
    assert refusal(path)
    write_archive(path, VALID)
    path.write_bytes(path.read_bytes()[:-20])
    assert "damaged" in refusal(path)
    write_archive(path, VALID)
    with pytest.raises(SourceError, match="not the export of a group"):
        open_group_archive(path)
    loop = {"_all.ndjson": b"1\n2\n", "1.json": b'{"id":1,"name":"a","path":"a"}'}
    loop["2.json"] = b'{"id":2,"name":"b","path":"b","parent_id":2}'
    write_archive(path, {"VERSION": b"0.2.4", **{f"tree/groups/{name}": text for name, text in loop.items()}})
    with closing(open_group_archive(path)) as source, pytest.raises(SourceError, match="parent is missing"):
        list(source.groups())
