"""Archives that are stored after the first download: reuse, shared computation, limits and visibility."""

import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from ingot.core.errors import TransfersBusy
from ingot.git.trees.archives import stream_archive
from ingot.repositories.trees import archive_cache, views
from ingot.repositories.trees.archive_cache import ArchiveCache
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History

KEY = ("repository", "commit")


class Computations:
    """Archives of four parts, and the number of parts that were computed."""

    def __init__(self) -> None:
        self.parts = 0

    def __call__(self) -> Generator[bytes, None, None]:
        for number in range(4):
            self.parts += 1
            yield b"%d" % number * 1000


@pytest.fixture
def compute() -> Computations:
    return Computations()


@pytest.mark.parametrize("path", ["/repository/archive.tar.bz2", "/repository/archive.zip"])
def test_second_download_is_not_computed(
    api: Api, make: Make, instance: Instance, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored archive has the same bytes; a caller who may not read the code does not get it."""
    owner, stranger = make.user(), make.user()
    project = make_project(make, owner, visibility="private")
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, project)
    computed: list[str] = []

    def recorded(*args: object) -> Generator[bytes, None, None]:
        computed.append(str(args[1]))
        return stream_archive(*args)  # type: ignore[arg-type] # They are what it takes.

    monkeypatch.setattr(views, "stream_archive", recorded)
    first, second = (api.get(f"{project.url}{path}", owner) for _ in range(2))
    assert (first.status_code, second.status_code, len(computed)) == (200, 200, 1)
    assert first.content == second.content
    assert first.headers["content-disposition"] == second.headers["content-disposition"]
    assert api.get(f"{project.url}{path}", stranger).status_code == 404
    assert api.get(f"{project.url}{path}").status_code == 404
    change = {"branch": "master", "content": "b", "commit_message": "Add b"}
    assert api.post(f"{project.url}/repository/files/b", owner, **change).status_code == 201
    assert api.get(f"{project.url}{path}", owner).content != first.content
    assert len(computed) == 2


def test_concurrent_readers_share_one_computation(tmp_path: Path, compute: Computations) -> None:
    """A reader who is ahead computes for all; one who leaves does not end the computation of the others."""
    cache = ArchiveCache(tmp_path, 2**20)
    slow, fast, short = (cache.pieces(KEY, caller, compute) for caller in ("a", "b", "c"))
    parts = [next(slow)]
    assert next(short) == parts[0]
    short.close()
    whole = b"".join(fast)
    assert whole == b"".join([*parts, *slow])
    assert compute.parts == 4
    assert b"".join(cache.pieces(KEY, "d", compute)) == whole
    assert compute.parts == 4


def test_readers_in_threads(tmp_path: Path, compute: Computations) -> None:
    cache, results = ArchiveCache(tmp_path, 2**20), []
    readers = [cache.pieces(KEY, "a", compute) for _ in range(8)]
    first = [next(reader) for reader in readers]
    threads = [threading.Thread(target=lambda reader=reader: results.append(b"".join(reader))) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {first[0] + rest for rest in results} == {b"".join(Computations()())}
    assert compute.parts == 4


def test_abandoned_archive_is_not_stored(tmp_path: Path, compute: Computations) -> None:
    reader = ArchiveCache(tmp_path, 2**20).pieces(KEY, "a", compute)
    next(reader)
    reader.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 5_000])
def test_archive_that_is_too_large_is_not_stored(tmp_path: Path, compute: Computations, size: int) -> None:
    cache = ArchiveCache(tmp_path, size)
    behind = cache.pieces(KEY, "b", compute)
    first = next(behind)
    whole = b"".join(Computations()())
    assert b"".join(cache.pieces(KEY, "a", compute)) == whole
    assert first + b"".join(behind) == whole
    assert not list(tmp_path.iterdir())


def test_oldest_archives_are_evicted(tmp_path: Path, compute: Computations) -> None:
    cache = ArchiveCache(tmp_path, 20_000)
    for number in range(8):
        assert b"".join(cache.pieces((*KEY, str(number)), "a", compute))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 20_000
    assert compute.parts == 8 * 4
    assert b"".join(cache.pieces((*KEY, "7"), "a", compute))
    assert compute.parts == 8 * 4


def test_failure_reaches_every_reader(tmp_path: Path) -> None:
    def fail() -> Generator[bytes, None, None]:
        yield b"0"
        raise ValueError

    cache = ArchiveCache(tmp_path, 2**20)
    readers = [cache.pieces(KEY, "a", fail) for _ in range(2)]
    assert [next(reader) for reader in readers] == [b"0", b"0"]
    for reader in readers:
        with pytest.raises(ValueError):
            next(reader)
    assert not list(tmp_path.iterdir())


def test_computations_of_a_caller_are_limited(
    tmp_path: Path, compute: Computations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further archives of the caller are refused; those of others, shared ones and stored ones are not."""
    monkeypatch.setattr(archive_cache, "MAX_COMPUTATIONS", 3)
    cache = ArchiveCache(tmp_path, 2**20)
    begin: Callable[[str, str], Generator[bytes, None, None]] = lambda name, caller: cache.pieces(  # noqa: E731
        (name,), caller, compute
    )
    assert b"".join(begin("stored", "a"))
    running = [begin("1", "a"), begin("2", "a"), begin("1", "a"), begin("3", "b")]
    assert all(next(reader) for reader in running)
    for name, caller in (("4", "a"), ("4", "c")):
        with pytest.raises(TransfersBusy):
            next(begin(name, caller))
    assert b"".join(begin("stored", "a"))
    for reader in running:
        reader.close()
    assert b"".join(begin("4", "a"))
