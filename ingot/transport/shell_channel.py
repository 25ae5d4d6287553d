"""Channel of a client of OpenSSH: the standard descriptors of its forced command, passed over a Unix socket."""

import asyncio
import os
import select
from collections.abc import AsyncIterator, Sequence
from functools import cached_property

from ingot.transport.git_process import CHUNK_BYTES
from ingot.transport.pipes import Pipes, wait_readable
from ingot.transport.request_bodies import ClientDisconnected


class ShellChannel:
    """Descriptors of a forced command as a git client."""

    interactive = True
    can_run_git = True

    def __init__(
        self, descriptors: Sequence[int], connection: int, fingerprint: str, command: str | None, git_protocol: str
    ) -> None:
        self._stdin, self._stdout, self._stderr = descriptors
        self._connection = connection
        self.fingerprint = fingerprint
        self.command = command
        self.git_protocol = git_protocol

    @cached_property
    def _pipes(self) -> Pipes:
        """Made at the first use: it makes the descriptors non-blocking, also for a git that the command runs itself."""
        return Pipes(self._stdin, self._stdout, self._stderr)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the client's standard input."""
        try:
            while chunk := await self._pipes.read(self._stdin, CHUNK_BYTES):
                yield chunk
        except OSError:
            raise ClientDisconnected from None

    async def send(self, chunk: bytes) -> None:
        """Write to the client's standard output."""
        try:
            await self._pipes.write(self._stdout, chunk)
        except OSError:
            raise ClientDisconnected from None

    async def send_error(self, text: str) -> None:
        """Write to the client's standard error."""
        try:
            await self._pipes.write(self._stderr, text.encode())
        except OSError:
            raise ClientDisconnected from None

    async def wait_disconnected(self) -> None:
        """Return when sshd has closed its end of standard output, or when the forced command has ended."""
        if not hasattr(select, "epoll"):  # The next write fails instead.
            await asyncio.Event().wait()
        with select.epoll() as hangup:
            # Without any event to wait for, only hangups and errors are reported.
            for descriptor in (self._stdout, self._connection):
                try:
                    hangup.register(descriptor, 0)
                except PermissionError:  # A regular file, which has no other end.
                    pass
            await wait_readable(hangup.fileno())

    def abort(self) -> None:
        """Stop waiting for the client; the descriptors are closed at the end of the session."""

    def close(self) -> None:
        """Close the descriptors."""
        if "_pipes" in self.__dict__:
            self._pipes.close()
        else:
            for descriptor in (self._stdin, self._stdout, self._stderr):
                os.close(descriptor)
