"""Channel of a client of the built-in SSH server, on asyncssh."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import asyncssh

from ingot.core.http.transfer_rate import MIN_BYTES_PER_SECOND
from ingot.transport.git_process import CHUNK_BYTES
from ingot.transport.pipes import is_writable, wait_writable
from ingot.transport.request_bodies import ClientDisconnected, ClientStalled

SshProcess = asyncssh.SSHServerProcess[bytes]


class SshTransfer:
    """Session channel of asyncssh as a git client."""

    interactive = True
    run_git = None

    def __init__(self, process: SshProcess, slow_reader_seconds: float) -> None:
        self._process = process
        self._slow_reader_seconds = slow_reader_seconds
        self._part_bytes = int(MIN_BYTES_PER_SECOND * slow_reader_seconds)
        self.address = str((process.get_extra_info("peername") or ("",))[0])
        self.fingerprint: str = process.get_extra_info("authenticated_key", "")
        self.command = process.command if process.subsystem is None else f"subsystem {process.subsystem}"
        self.git_protocol = _text(process.env.get("GIT_PROTOCOL", ""))

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the client's standard input."""
        try:
            while chunk := await self._process.stdin.read(CHUNK_BYTES):
                yield chunk
        except (asyncssh.Error, OSError):  # Also a break or a signal, after which the session ends.
            raise ClientDisconnected from None

    async def send(self, chunk: bytes) -> None:
        """Write to the client's standard output, in parts that the client has to read in a limited time each."""
        for start in range(0, len(chunk), self._part_bytes):
            try:
                async with asyncio.timeout(self._slow_reader_seconds):
                    self._process.stdout.write(chunk[start : start + self._part_bytes])
                    await self._process.stdout.drain()
                    await self._drain_connection()
            except TimeoutError:
                raise ClientStalled from None
            except (asyncssh.Error, OSError):
                raise ClientDisconnected from None

    async def _drain_connection(self) -> None:
        """Wait until the kernel accepts data; asyncssh buffers any amount if the client only announces to read it."""
        connection = self._process.get_extra_info("socket")
        if connection is None or connection.fileno() < 0 or is_writable(connection.fileno()):
            return
        descriptor = os.dup(connection.fileno())  # The event loop allows nobody else to wait for that of a transport.
        try:
            await wait_writable(descriptor)
        finally:
            os.close(descriptor)

    async def send_error(self, text: str) -> None:
        """Write to the client's standard error."""
        try:
            self._process.stderr.write(text.encode())
        except (asyncssh.Error, OSError):
            raise ClientDisconnected from None

    async def wait_disconnected(self) -> None:
        """Return when the channel is closed."""
        await self._process.channel.wait_closed()

    def abort(self) -> None:
        """Close the channel without sending what is buffered."""
        self._process.channel.abort()


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
