"""The git processes that serve clients: started clean, fed and heard as fast as the client can, ended with it."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path

from ingot.git.command import Config, clean_environment

PIECE = 256 * 1024


class Child:
    """One running git; whoever starts it ends it, by ``async with``."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._said = bytearray()
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
        process = await asyncio.create_subprocess_exec(
            "git",
            *args,
            cwd=repository,
            env=clean_environment(config, env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            limit=PIECE,
            pass_fds=tuple(pass_fds),
            start_new_session=True,  # A process group of its own, so that helpers die with it.
        )
        return cls(process)

    async def __aenter__(self) -> "Child":
        return self

    async def __aexit__(self, *_: object) -> None:
        """End it with all that it started, unless it has ended by itself."""
        if self._process.returncode is None:
            self.kill()
        await self._process.wait()
        self._hearing.cancel()

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
            if not wanted:
                continue
            stdin.write(piece)
            try:
                await stdin.drain()
            except (BrokenPipeError, ConnectionResetError):  # Its exit status or its output tells why.
                wanted = False
        stdin.close()

    async def read(self) -> bytes:
        """The next piece of its output; nothing at the end."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - It was started with a pipe.
        return await stdout.read(PIECE)

    async def wait(self) -> int:
        """Its exit status."""
        return await self._process.wait()

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
