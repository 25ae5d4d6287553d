"""Tests of archives that are refused."""

import tarfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ingot.integrations.transfers.records import KINDS
from ingot.integrations.transfers.source import SourceError
from ingot.integrations.transfers.sources.archive import unpacked_archive
from ingot.integrations.transfers.sources.archive.opening import open_archive, open_group_archive
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
        ({"VERSION": b"0.1.8"}, "not supported"),
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
