"""Git processes that serve clients."""

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ingot.git.core.command import Config, clean_environment, limit_cpu_time, limit_memory
from ingot.transport.pipes import Pipes, wait_readable

CHUNK_BYTES = 1024 * 1024
_INPUT_PIPE_BYTES = 256 * 1024
_STDERR_SECONDS = 1.0
_STDERR_BYTES = 4096
_UNDELAYED_CHUNKS = 8
_COALESCE_SECONDS = 0.001


class ProcessLimits(NamedTuple):
    """Memory in bytes that each process may allocate, and its CPU time in seconds; packs in memory do not count."""

    memory: int
    cpu_seconds: int


PUSH_LIMITS = ProcessLimits(2 * 2**30, 1200)
"""A small pack can describe objects of any size by deltas; the history of the Linux kernel takes 400 seconds."""
FETCH_LIMITS = ProcessLimits(8 * 2**30, 3600)
"""Git holds a list of all objects that it packs: 2 GB for the history of the Linux kernel."""
ARCHIVE_LIMITS = ProcessLimits(2**30, 900)


class GitProcess:
    """Running git process; use it with ``async with``, which ends it.

    The processes of asyncio are not used because starting one copies the memory map of this process, which blocks the
    event loop for 4 ms. ``subprocess.Popen`` takes a twentieth of that.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", stdin: int, stdout: int, stderr: int) -> None:
        self._process = process
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._pipes = Pipes(stdin, stdout, stderr)
        self._messages = bytearray()
        self._chunks = 0
        self._stderr_reader = asyncio.ensure_future(self._read_stderr())

    @classmethod
    async def start(
        cls,
        args: Sequence[str],
        repository: Path,
        *,
        config: Config = (),
        env: Mapping[str, str] | None = None,
        pass_fds: Iterable[int] = (),
        limits: ProcessLimits = FETCH_LIMITS,
    ) -> "GitProcess":
        """Run git in a repository, each of its processes with these limits."""
        child_stdin, stdin = _large_pipe(_INPUT_PIPE_BYTES)
        stdout, child_stdout = _large_pipe(CHUNK_BYTES)
        stderr, child_stderr = os.pipe()
        try:
            process = subprocess.Popen(
                ["git", *args],
                cwd=repository,
                env=clean_environment(config, env),
                stdin=child_stdin,
                stdout=child_stdout,
                stderr=child_stderr,
                pass_fds=tuple(pass_fds),
                start_new_session=True,  # A process group of its own, so that its own children end with it.
            )
        except BaseException:
            for descriptor in (stdin, stdout, stderr):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (child_stdin, child_stdout, child_stderr):
                os.close(descriptor)
        # Before it has read anything that makes it start a process of its own.
        limit_memory(process.pid, limits.memory)
        limit_cpu_time(process.pid, limits.cpu_seconds)
        return cls(process, stdin, stdout, stderr)

    async def __aenter__(self) -> "GitProcess":
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the process group, unless it has ended by itself, and close the pipes."""
        self.kill()
        await self._ended()
        self._stderr_reader.cancel()
        self._pipes.close()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the process group; do nothing once the process was reaped, as its number may be in use again."""
        if self._process.returncode is not None:
            return
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    async def feed(self, chunks: AsyncIterator[bytes]) -> None:
        """Write the chunks to standard input, then close it; read and drop the rest once git has closed its end."""
        accepts = True
        async for chunk in chunks:
            if accepts:
                try:
                    await self._pipes.write(self._stdin, chunk)
                except BrokenPipeError:  # The exit status or the output says why.
                    accepts = False
        self._pipes.close(self._stdin)

    async def read(self) -> bytes:
        """Return the next chunk of standard output; empty at the end.

        After the first few chunks a millisecond is left for more output to accumulate, because each chunk has a fixed
        cost and git writes refs one by one.
        """
        if self._chunks > _UNDELAYED_CHUNKS:
            await asyncio.sleep(_COALESCE_SECONDS)
        self._chunks += 1
        return await self._pipes.read(self._stdout, CHUNK_BYTES)

    async def wait(self) -> int:
        """Return the exit status; ``stderr`` is complete then, unless a child of git keeps the pipe open."""
        status = await self._ended()
        await asyncio.wait([self._stderr_reader], timeout=_STDERR_SECONDS)
        return status

    async def _ended(self) -> int:
        if self._process.poll() is None:
            await _wait_for_exit(self._process)
        return self._process.wait()

    @property
    def stderr(self) -> str:
        """The end of standard error, for the log and, over SSH, for the client."""
        return self._messages.decode(errors="replace")

    async def _read_stderr(self) -> None:
        while chunk := await self._pipes.read(self._stderr, _STDERR_BYTES):
            self._messages += chunk
            del self._messages[:-_STDERR_BYTES]


async def _wait_for_exit(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process, by its pidfd where the system has such."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # The system has no such descriptors, or none is left.
        await asyncio.get_running_loop().run_in_executor(None, process.wait)
        return
    try:
        await wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _large_pipe(size: int) -> tuple[int, int]:
    """Return a pipe with a buffer of this size, where the system grants it: larger chunks mean fewer turns."""
    reader, writer = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, size)
        except OSError:  # The user's quota for pipe buffers is used up; the default size works too.
            pass
    return reader, writer
