"""The git processes that serve clients: started clean, fed and heard as fast as the client can, ended with it."""

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path

from ingot.git.command import Config, clean_environment

PIECE = 1024 * 1024
_HEAR_SECONDS = 1.0
_FEW = 8
_GATHER_SECONDS = 0.001


class Child:
    """One running git; whoever starts it ends it, by ``async with``."""

    def __init__(self, process: asyncio.subprocess.Process, output: int) -> None:
        self._process = process
        self._output = output
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
    ) -> "Child":
        """Run git in a repository."""
        output, its_output = _wide_pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                *args,
                cwd=repository,
                env=clean_environment(config, env),
                stdin=subprocess.PIPE,
                stdout=its_output,
                stderr=subprocess.PIPE,
                pass_fds=tuple(pass_fds),
                start_new_session=True,  # A process group of its own, so that helpers die with it.
            )
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(its_output)
        return cls(process, output)

    async def __aenter__(self) -> "Child":
        return self

    async def __aexit__(self, *_: object) -> None:
        """End it with all that it started, unless it has ended by itself."""
        if self._process.returncode is None:
            self.kill()
        await self._process.wait()
        self._hearing.cancel()
        os.close(self._output)

    def kill(self) -> None:
        """End it and its helpers at once."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    async def feed(self, pieces: AsyncIterator[bytes]) -> None:
        """Give it its input as fast as it takes it; what it does not want is thrown away."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - It was started with a pipe.
        wanted = True
        async for piece in pieces:
            if not wanted or stdin.is_closing():  # It does not read to the end: the loop has heard of that already.
                continue
            stdin.write(piece)
            try:
                await stdin.drain()
            except (BrokenPipeError, ConnectionResetError):  # Its exit status or its output tells why.
                wanted = False
        stdin.close()

    async def read(self) -> bytes:
        """The next piece of its output; nothing at the end.

        Read straight from the pipe, and no sooner than it is wanted: a stream would copy everything once more, in
        smaller pieces, and what git has to say waits in the pipe as well as here. Where it says more than a few words,
        a moment is left for more to gather: each piece costs the same, and git writes references one by one.
        """
        if self._pieces > _FEW:
            await asyncio.sleep(_GATHER_SECONDS)
        while True:
            try:
                piece = os.read(self._output, PIECE)
            except BlockingIOError:
                await self._readable()
            else:
                self._pieces += 1
                return piece

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._output, _settle, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._output)

    async def wait(self) -> int:
        """Its exit status; what it said is heard by then, unless a helper that lives on keeps the line open."""
        status = await self._process.wait()
        await asyncio.wait([self._hearing], timeout=_HEAR_SECONDS)
        return status

    @property
    def said(self) -> str:
        """The end of its standard error, for the log; over SSH it belongs to the client."""
        return self._said.decode(errors="replace")

    async def _hear(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None  # noqa: S101 - It was started with a pipe.
        while piece := await stderr.read(4096):
            self._said += piece
            del self._said[:-4096]


def _settle(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


def _wide_pipe() -> tuple[int, int]:
    """A pipe that holds as much as one piece, where the system lets us have one: fewer turns for more bytes."""
    output, its_output = os.pipe()
    os.set_blocking(output, False)
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(output, fcntl.F_SETPIPE_SZ, PIECE)
        except OSError:  # This user has used up what all its pipes may hold; then it keeps its usual size.
            pass
    return output, its_output
