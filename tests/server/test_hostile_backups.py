"""Archives made to harm the machine that restores them: sizes, headers, names, and files that git would execute."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingot.git.core.layout import CONFIG
from ingot.maintenance.backups.archive import verify_archive
from ingot.maintenance.backups.layout import BackupError
from tests.server.process import ingot

SPACE = 10**9
KEY = "ab" * 32
REPOSITORY = f"repositories/ab/ab/{KEY}.git"
Member = tuple[tarfile.TarInfo, bytes]


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid backup of an embedded instance."""
    folder = tmp_path_factory.mktemp("backup")
    data, file = folder / "data", folder / "good.tar.gz"
    assert ingot("migrate", "--data", data).returncode == 0
    (data / "uploads").mkdir()
    (data / "uploads" / "one.txt").write_text("one")
    assert ingot("backup", file, "--data", data).returncode == 0
    return file


def _file(name: str, content: bytes = b"x") -> Member:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    return entry, content


def _with_members(backup: Path, file: Path, added: Sequence[Member]) -> Path:
    """Write the backup again with further members, which its manifest lists."""
    with tarfile.open(backup) as source, tarfile.open(file, "w:gz", format=tarfile.PAX_FORMAT) as target:
        for member in source:
            content = source.extractfile(member)
            if member.name == "manifest.json":
                assert content is not None
                manifest = json.loads(content.read())
            else:
                target.addfile(member, content)
        for entry, content_added in added:
            target.addfile(entry, io.BytesIO(content_added))
            manifest["members"][entry.name] = hashlib.sha256(content_added).hexdigest()
        target.addfile(*_opened(_file("manifest.json", json.dumps(manifest).encode())))
    return file


def _opened(member: Member) -> tuple[tarfile.TarInfo, io.BytesIO]:
    return member[0], io.BytesIO(member[1])


def _require_refused(file: Path, *words: str, space: int = SPACE) -> None:
    with file.open("rb") as stream, pytest.raises(BackupError) as refused:
        verify_archive(stream, file, space)
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize(
    "added",
    [
        [_file("uploads/one.txt")],
        [_file("./uploads/two.txt")],
        [_file("uploads//two.txt")],
        [_file("uploads/one.txt/inside")],
        [_file("uploads/folder/file"), _file("uploads/folder")],
        [_file("uploads/../uploads/two.txt")],
    ],
    ids=lambda added: " ".join(entry.name for entry, _ in added),
)
def test_no_name_occurs_twice(backup: Path, tmp_path: Path, added: list[Member]) -> None:
    """Attack: a second member replaces one that was verified, also in another spelling of its name."""
    _require_refused(_with_members(backup, tmp_path / "bad.tar.gz", added), "rejected")


def test_a_second_manifest_is_refused(backup: Path, tmp_path: Path) -> None:
    """Attack: the last manifest of several describes other members than the first."""
    with tarfile.open(backup) as archive:
        manifest = archive.extractfile("manifest.json")
        assert manifest is not None
        added = [_file("manifest.json", manifest.read())]
    _require_refused(_with_members(backup, tmp_path / "bad.tar.gz", added), "rejected")


def test_more_than_fits_is_refused_before_it_is_written(backup: Path, tmp_path: Path) -> None:
    """Attack: a small archive of zeros that fills the disk."""
    file = _with_members(backup, tmp_path / "bad.tar.gz", [_file("uploads/zeros", bytes(10**7))])
    assert file.stat().st_size < 10**6
    _require_refused(file, "more space", space=10**6)
    with file.open("rb") as stream:
        assert "uploads/zeros" in verify_archive(stream, file, SPACE).members


def test_a_size_that_is_not_true(backup: Path, tmp_path: Path) -> None:
    """Attack: a header that promises exabytes, with and without the content."""
    with gzip.open(backup) as packed:
        content = packed.read()
    for size, word in ((8 * 2**60, "more space"), (10**8, "damaged")):
        entry = tarfile.TarInfo("uploads/zeros")
        entry.size = size
        file = tmp_path / "bad.tar.gz"
        file.write_bytes(gzip.compress(entry.tobuf(tarfile.GNU_FORMAT) + content[:4096]))
        _require_refused(file, word)


def test_a_sparse_file_is_refused(backup: Path, tmp_path: Path) -> None:
    """Attack: a few bytes that expand to a petabyte of zeros."""
    entry, content = _file("uploads/sparse", b"1\n0\n0\n".ljust(512, b"\0"))
    real_size = {"GNU.sparse.realsize": str(2**50), "GNU.sparse.name": "uploads/sparse"}
    entry.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", **real_size}
    _require_refused(_with_members(backup, tmp_path / "bad.tar.gz", [(entry, content)]))


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_extended_header_is_limited(tmp_path: Path, kind: bytes) -> None:
    """Attack: a name of a gigabyte, which a reader of archives keeps in memory."""
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = kind, 2**30
    file = tmp_path / "bad.tar.gz"
    file.write_bytes(gzip.compress(entry.tobuf(tarfile.GNU_FORMAT) + bytes(10**6)))
    _require_refused(file, "a header is too large")


def test_nothing_that_git_would_execute_is_restored(backup: Path, tmp_path: Path) -> None:
    """Attack: a repository with hooks, with a configuration that runs programs, and with objects of other folders."""
    config = b'[diff "x"]\n\ttextconv = touch /tmp/pwned-by-a-backup\n'
    executed = [
        _file(f"{REPOSITORY}/hooks/pre-receive", b"#!/bin/sh\ntouch /tmp/pwned-by-a-backup\n"),
        _file(f"{REPOSITORY}/info/attributes", b"* diff=x\n"),
        _file(f"{REPOSITORY}/objects/info/alternates", b"/etc\n"),
        _file(f"{REPOSITORY}/commondir", b"/etc\n"),
    ]
    kept = [_file(f"{REPOSITORY}/HEAD", b"ref: refs/heads/master\n"), _file(f"{REPOSITORY}/refs/heads/x")]
    added = [*executed, *kept, _file(f"{REPOSITORY}/config", config)]
    file, target = _with_members(backup, tmp_path / "bad.tar.gz", added), tmp_path / "target"
    restored = ingot("restore", file, "--data", target)
    assert restored.returncode == 0, restored.stderr
    assert not [entry.name for entry, _ in executed if (target / entry.name).exists()]
    assert all((target / entry.name).read_bytes() == content for entry, content in kept)
    assert (target / REPOSITORY / "config").read_bytes() == CONFIG
    shutil.rmtree(target)
