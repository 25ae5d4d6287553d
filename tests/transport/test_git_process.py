"""git processes on the event loop: concurrent input and output, termination with children, closed pipes."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import uvloop

from ingot.transport.git_process import GitProcess
from tests.git.conftest import git

LARGE = 3 * 1024 * 1024


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", ".")
    return tmp_path


async def _chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _all(child: GitProcess) -> bytes:
    return b"".join([piece async for piece in _output(child)])


async def _output(child: GitProcess) -> AsyncIterator[bytes]:
    while piece := await child.read():
        yield piece


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_more_than_the_pipes_hold(run: object, repository: Path) -> None:
    content = os.urandom(LARGE)

    async def communicate() -> tuple[bytes, int]:
        async with await GitProcess.start(["stripspace"], repository) as child:
            feeding = asyncio.ensure_future(child.feed(_chunks(*[b"line\n" * 200_000] * 3)))
            said = await _all(child)
            await feeding
            return said, await child.wait()

    async def write() -> bytes:
        async with await GitProcess.start(["hash-object", "-w", "--stdin"], repository) as child:
            await child.feed(_chunks(content[:100], content[100:]))
            return (await _all(child)).strip()

    async def read(oid: str) -> bytes:
        async with await GitProcess.start(["cat-file", "blob", oid], repository) as child:
            return await _all(child)

    assert run(communicate()) == (b"line\n" * 600_000, 0)  # type: ignore[operator] # Both take a coroutine.
    oid = run(write()).decode()  # type: ignore[operator] # As above.
    assert run(read(oid)) == content  # type: ignore[operator] # As above.


def test_unread_input_does_not_block(repository: Path) -> None:
    async def communicate() -> tuple[int, str]:
        async with await GitProcess.start(["no-such-word"], repository) as child:
            await child.feed(_chunks(*[b"x" * LARGE] * 3))
            return await child.wait(), child.stderr

    status, said = uvloop.run(communicate())
    assert status == 1
    assert "no-such-word" in said


@pytest.fixture
def open_pipes(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """Return a function that returns the pipes created in this thread that are still open."""
    made: list[tuple[int, int]] = []
    pipe, here = os.pipe, threading.get_ident()

    def watched() -> tuple[int, int]:
        ends = pipe()
        if threading.get_ident() == here:
            made.extend((end, os.fstat(end).st_ino) for end in ends)
        return ends

    def is_open(end: int, inode: int) -> bool:
        try:
            return os.fstat(end).st_ino == inode
        except OSError:
            return False

    monkeypatch.setattr(os, "pipe", watched)
    return lambda: [end for end, inode in made if is_open(end, inode)]


def test_leaving_kills_the_process_and_closes_all_pipes(repository: Path, open_pipes: Callable[[], list[int]]) -> None:
    async def leave() -> None:
        async with await GitProcess.start(["hash-object", "--stdin"], repository) as child:
            feeding = asyncio.ensure_future(child.feed(_never()))
            reading = asyncio.ensure_future(child.read())
            await asyncio.sleep(0)
            assert len(open_pipes()) == 3
            feeding.cancel()
            reading.cancel()
        assert open_pipes() == []
        assert await child.wait() == -signal.SIGKILL

    uvloop.run(leave())


async def _never() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


def test_the_exit_is_noticed_without_pidfd(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")

    async def communicate() -> tuple[bytes, int]:
        async with await GitProcess.start(["version"], repository) as child:
            return await _all(child), await child.wait()

    said, status = uvloop.run(communicate())
    assert said.startswith(b"git version")
    assert status == 0


def test_a_failed_start_leaves_no_pipes(tmp_path: Path, open_pipes: Callable[[], list[int]]) -> None:
    with pytest.raises(FileNotFoundError):
        uvloop.run(_start(tmp_path / "gone"))
    assert open_pipes() == []


async def _start(where: Path) -> GitProcess:
    return await GitProcess.start(["version"], where)
