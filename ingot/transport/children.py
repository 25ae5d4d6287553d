"""The git processes that serve clients: started clean, fed and heard as fast as the client can, ended with it."""

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ingot.git.core.command import Config, clean_environment

CHUNK_SIZE = 1024 * 1024
_INPUT_PIPE_SIZE = 256 * 1024
_STDERR_TIMEOUT_SECONDS = 1.0
_FEW = 8
_COALESCE_SECONDS = 0.001


class GitProcess:
    """One running git; whoever starts it ends it, by ``async with``.

    It is started and heard without the loop's own processes: those copy the memory map of ours each time, 4 ms in which
    nobody is served, where the library's way takes a twentieth of that.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", ends: "_ProcessPipes") -> None:
        self._process = process
        self._ends = ends
        self._said = bytearray()
        self._pieces = 0
        self._hearing = asyncio.ensure_future(self._hear())

    @classmethod
    async def start(
        cls,
        args: Sequence[str],
        repository: Path,
        *,
        config: Config = (),
        env: Mapping[str, str] | None = None,
        pass_fds: Iterable[int] = (),
    ) -> "GitProcess":
        """Run git in a repository."""
        its_input, input = _wide_pipe(_INPUT_PIPE_SIZE)
        output, its_output = _wide_pipe(CHUNK_SIZE)
        errors, its_errors = os.pipe()
        ends = _ProcessPipes(input, output, errors)
        try:
            process = subprocess.Popen(
                ["git", *args],
                cwd=repository,
                env=clean_environment(config, env),
                stdin=its_input,
                stdout=its_output,
                stderr=its_errors,
                pass_fds=tuple(pass_fds),
                start_new_session=True,  # A process group of its own, so that helpers die with it.
            )
        except BaseException:
            ends.close()
            raise
        finally:
            for end in (its_input, its_output, its_errors):
                os.close(end)
        return cls(process, ends)

    async def __aenter__(self) -> "GitProcess":
        return self

    async def __aexit__(self, *_: object) -> None:
        """End it with all that it started, unless it has ended by itself."""
        self.kill()
        await self._ended()
        self._hearing.cancel()
        self._ends.close()

    def kill(self) -> None:
        """End it and its helpers at once, unless it has been heard to end: its number may be another's by then."""
        if self._process.returncode is not None:
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    async def feed(self, pieces: AsyncIterator[bytes]) -> None:
        """Give it its input as fast as it takes it; what it does not want is thrown away."""
        wanted = True
        async for piece in pieces:
            wanted = wanted and await self._write_input(piece)
        self._ends.close_input()

    async def _write_input(self, piece: bytes) -> bool:
        """Whether it took it; where it did not, its exit status or its output tells why."""
        rest = memoryview(piece)
        while rest:
            if self._ends.input < 0:
                return False
            try:
                rest = rest[os.write(self._ends.input, rest) :]
            except BlockingIOError:
                await self._ends.writable()
            except BrokenPipeError:
                return False
        return True

    async def read(self) -> bytes:
        """The next piece of its output; nothing at the end.

        Read straight from the pipe, and no sooner than it is wanted: a stream would copy everything once more, in
        smaller pieces, and what git has to say waits in the pipe as well as here. Where it says more than a few words,
        a moment is left for more to gather: each piece costs the same, and git writes references one by one.
        """
        if self._pieces > _FEW:
            await asyncio.sleep(_COALESCE_SECONDS)
        self._pieces += 1
        return await self._ends.read(self._ends.output, CHUNK_SIZE)

    async def wait(self) -> int:
        """Its exit status; what it said is heard by then, unless a helper that lives on keeps the line open."""
        status = await self._ended()
        await asyncio.wait([self._hearing], timeout=_STDERR_TIMEOUT_SECONDS)
        return status

    async def _ended(self) -> int:
        if self._process.poll() is None:
            await _wait_for_exit(self._process)
        return self._process.wait()

    @property
    def said(self) -> str:
        """The end of its standard error, for the log; over SSH it belongs to the client."""
        return self._said.decode(errors="replace")

    async def _hear(self) -> None:
        while piece := await self._ends.read(self._ends.errors, 4096):
            self._said += piece
            del self._said[:-4096]


class _ProcessPipes:
    """Our ends of the pipes to a process."""

    def __init__(self, input: int, output: int, errors: int) -> None:
        self.input, self.output, self.errors = input, output, errors
        self._loop = asyncio.get_running_loop()
        self._awaited: dict[int, asyncio.Future[None]] = {}
        for end in (input, output, errors):
            os.set_blocking(end, False)

    async def read(self, end: int, most: int) -> bytes:
        """The next piece, as soon as there is one; nothing at the end."""
        while True:
            try:
                return os.read(end, most)
            except BlockingIOError:
                await self._ready(end, self._loop.add_reader)

    async def writable(self) -> None:
        """Wait until the process takes more input."""
        await self._ready(self.input, self._loop.add_writer)

    def close_input(self) -> None:
        """Say that there is no more to come."""
        if self.input >= 0:
            self._forget(self.input)
            os.close(self.input)
            self.input = -1

    def close(self) -> None:
        """Let go of all; whoever still waits at one of them is cancelled."""
        self.close_input()
        for end in (self.output, self.errors):
            self._forget(end)
            os.close(end)

    async def _ready(self, end: int, watch: Callable[..., object]) -> None:
        ready = self._awaited[end] = self._loop.create_future()
        watch(end, _set_ready, ready)
        try:
            await ready
        finally:
            if self._awaited.get(end) is ready:  # Else its number may be another's by now.
                self._forget(end)

    def _forget(self, end: int) -> None:
        awaited = self._awaited.pop(end, None)
        if awaited is not None:
            (self._loop.remove_writer if end == self.input else self._loop.remove_reader)(end)
            awaited.cancel()


async def _wait_for_exit(process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process has ended, by a descriptor of it where the system has such."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # The system has no such descriptors, or none is left.
        await loop.run_in_executor(None, process.wait)
        return
    ended: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _set_ready, ended)
    try:
        await ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _set_ready(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


def _wide_pipe(size: int) -> tuple[int, int]:
    """A pipe that holds so much, where the system lets us have one: fewer turns for more bytes."""
    out, into = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, size)
        except OSError:  # This user has used up what all its pipes may hold; then it keeps its usual size.
            pass
    return out, into
