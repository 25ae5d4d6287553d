"""Channel of a client of the built-in SSH server, on asyncssh."""

from collections.abc import AsyncIterator
from typing import Any

import asyncssh

from ingot.transport.git_process import CHUNK_BYTES
from ingot.transport.request_bodies import ClientDisconnected

SshProcess = asyncssh.SSHServerProcess[bytes]


class SshTransfer:
    """Session channel of asyncssh as a git client."""

    interactive = True
    can_run_git = False

    def __init__(self, process: SshProcess) -> None:
        self._process = process
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
        """Write to the client's standard output."""
        try:
            self._process.stdout.write(chunk)
            await self._process.stdout.drain()
        except (asyncssh.Error, OSError):
            raise ClientDisconnected from None

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
