"""Streamed output of git: stopped with its reader, and never mistaken for complete."""

import bz2
import gzip
import os
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.git.core import streaming
from ingot.git.core.errors import GitError, GitTimeout
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.archives import stream_archive
from ingot.git.trees.blobs import content_digest, read_blob, read_start, stream_blob
from tests.git_history import History, run

CONTENT = bytes(range(256)) * 20_000


@pytest.fixture
def repository(store: RepositoryStore, key: str) -> Repository:
    found = store.open(key)
    history = History()
    history.commit(files={"large": CONTENT, "small": "x"})
    history.into(found)
    return found


def _oid(repository: Repository, path: str = "large") -> str:
    return run(repository.path, "rev-parse", f"master:{path}")


@pytest.fixture
def started_processes(monkeypatch: pytest.MonkeyPatch) -> "list[subprocess.Popen[bytes]]":
    """Return all processes that are started."""
    processes: list[subprocess.Popen[bytes]] = []
    plain = subprocess.Popen

    def record(*args: Any, **options: Any) -> "subprocess.Popen[bytes]":
        processes.append(plain(*args, **options))
        return processes[-1]

    monkeypatch.setattr(streaming.subprocess, "Popen", record)  # type: ignore[attr-defined]
    return processes


def test_ranges_of_a_blob(repository: Repository) -> None:
    blob, size = read_blob(repository, _oid(repository)), len(CONTENT)
    for start, stop in ((0, size), (0, 1), (65_535, 65_537), (100, 4_000_000), (size - 1, size), (5, 5), (9, 3)):
        assert b"".join(stream_blob(blob, start, stop)) == CONTENT[start:stop]
    assert read_start(blob) == CONTENT[:8000]
    assert content_digest(blob) == sha256(CONTENT).hexdigest()


def test_closing_the_reader_stops_the_process(
    repository: Repository, started_processes: "list[subprocess.Popen[bytes]]"
) -> None:
    for pieces in (
        stream_blob(read_blob(repository, _oid(repository)), 0, len(CONTENT)),
        stream_archive(repository, "master", "tar", "x/"),
        stream_archive(repository, "master", "tar.gz", "x/"),
    ):
        assert next(pieces)
        process = started_processes.pop()
        pieces.close()
        assert process.returncode is not None
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)


def test_an_unread_stream_starts_no_process(
    repository: Repository, started_processes: "list[subprocess.Popen[bytes]]"
) -> None:
    blob = read_blob(repository, _oid(repository))
    started_processes.clear()
    stream_blob(blob, 0, 10).close()
    stream_archive(repository, "master", "tar.bz2", "x/").close()

    assert started_processes == []


def test_a_failed_process_raises(repository: Repository) -> None:
    with pytest.raises(GitError):
        list(stream_git(["cat-file", "blob", "0" * 40], repository.path))


def test_a_slow_reader_times_out(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MAX_SECONDS", -1.0)

    with pytest.raises(GitTimeout):
        list(stream_git(["cat-file", "blob", _oid(repository)], repository.path))


def test_no_process_is_started_on_an_event_loop(repository: Repository) -> None:
    with forbid_blocking(), pytest.raises(WouldBlock):
        next(stream_git(["cat-file", "blob", _oid(repository)], repository.path))


def test_archives_match_git(repository: Repository, tmp_path: Path) -> None:
    by_git = subprocess.run(
        ["git", "archive", "--format=tar", "--prefix=x/", "master"],
        cwd=repository.path,
        capture_output=True,
        check=True,
    ).stdout

    assert b"".join(stream_archive(repository, "master", "tar", "x/")) == by_git
    assert gzip.decompress(b"".join(stream_archive(repository, "master", "tar.gz", "x/"))) == by_git
    assert bz2.decompress(b"".join(stream_archive(repository, "master", "tar.bz2", "x/"))) == by_git
