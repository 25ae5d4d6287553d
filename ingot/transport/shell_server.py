"""Server side of ``ingot shell`` and ``ingot authorized-keys``, which run git behind the system's OpenSSH.

The forced command passes its standard descriptors to this process over a Unix socket. A clone is served by git alone:
the command replaces itself by the git process that this server names, which keeps the connection open until it ends.
All other sessions run here, as those of the built-in server do, so permissions, messages, hooks and records are the
same.
"""

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.transport.pipes import wait_readable
from ingot.transport.shell_channel import ShellChannel, send_reply
from ingot.transport.shell_socket import LENGTH_BYTES, MAX_REQUEST_BYTES, socket_path
from ingot.transport.ssh_sessions import FAILED, SshSessions

RECEIVE_SECONDS = 10.0
_PAUSE_SECONDS = 1.0
_DESCRIPTORS = 3
_CHUNK_BYTES = 65536


class ShellServer:
    """Unix socket on which the forced commands of OpenSSH reach the server."""

    def __init__(self, settings: Settings, sessions: SshSessions, log: Log) -> None:
        self._path = socket_path(settings.data)
        self._slow_reader_seconds = settings.slow_reader_seconds
        self._sessions = sessions
        self._log = log
        self._listener: socket.socket | None = None
        self._inode = 0
        self._accepting: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self) -> None:
        """Open the socket, which only this user can connect to, and serve it in the running event loop."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        try:
            _bind(listener, self._path)
        except OSError as error:  # Such as a path that is too long; the built-in server works without.
            listener.close()
            self._log("no socket for OpenSSH", path=str(self._path), error=str(error))
            return
        self._listener, self._inode = listener, self._path.stat().st_ino
        self._accepting = asyncio.ensure_future(self._accept(listener))

    async def close(self) -> None:
        """Accept no more connections; those that are open are served to their end."""
        if self._listener is None or self._accepting is None:
            return
        self._accepting.cancel()
        await asyncio.wait([self._accepting])
        self._listener.close()
        try:
            # Another process may have opened a socket of the same name.
            if self._path.stat().st_ino == self._inode:
                self._path.unlink()
        except FileNotFoundError:
            pass

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError as error:  # Such as too many open files.
                self._log("connection not accepted", error=type(error).__name__)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            task = asyncio.ensure_future(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket) -> None:
        descriptors: list[int] = []
        with connection:
            connection.setblocking(False)
            try:
                async with asyncio.timeout(RECEIVE_SECONDS):
                    request = await _receive(connection, descriptors)
                reply = await self._reply(request, descriptors, connection)
                if reply is not None:
                    await send_reply(connection, reply)
            except (OSError, TimeoutError, ValueError, KeyError, TypeError) as error:
                self._log("request of a shell failed", error=type(error).__name__)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)

    async def _reply(
        self, request: dict[str, Any], descriptors: list[int], connection: socket.socket
    ) -> dict[str, Any] | None:
        """Return the reply; None if the session has sent it."""
        if "fingerprint" in request:
            return await self._authorized_key(str(request["fingerprint"]))
        fingerprint = await self._sessions.fingerprint(int(request["key_id"]))
        command, git_protocol = _text(request.get("command")), str(request.get("git_protocol", ""))
        address = str(request.get("address", ""))
        channel = ShellChannel(
            descriptors, connection, fingerprint, command, git_protocol, address, self._slow_reader_seconds
        )
        descriptors.clear()  # The channel closes them.
        try:
            status = await self._sessions.run(channel)
        finally:
            channel.close()
        return None if channel.has_replied else {"status": status if 0 <= status <= FAILED else FAILED}

    async def _authorized_key(self, fingerprint: str) -> dict[str, Any]:
        caller = await self._sessions.caller(fingerprint)
        key = caller.key if caller is not None else None
        return {} if key is None else {"key_id": key.id, "key": " ".join(key.key.split()[:2])}


async def _receive(connection: socket.socket, descriptors: list[int]) -> dict[str, Any]:
    """Read a request; descriptors come with its first bytes."""
    loop = asyncio.get_running_loop()
    received = bytearray()
    while len(received) < LENGTH_BYTES or len(received) < LENGTH_BYTES + _length(received):
        if received:
            chunk = await loop.sock_recv(connection, _CHUNK_BYTES)
        else:
            chunk = await _receive_first(connection, descriptors)
        if not chunk:
            raise ValueError("The request is incomplete")
        received += chunk
    request: dict[str, Any] = json.loads(received[LENGTH_BYTES:])
    if "fingerprint" not in request and len(descriptors) != _DESCRIPTORS:
        raise ValueError("The request has no descriptors")
    return request


async def _receive_first(connection: socket.socket, descriptors: list[int]) -> bytes:
    await wait_readable(connection.fileno())
    chunk, passed, _, _ = socket.recv_fds(connection, _CHUNK_BYTES, _DESCRIPTORS)
    descriptors += passed
    return chunk


def _text(value: Any) -> str | None:
    """Return a text without the surrogates that stand for bytes that are not UTF-8."""
    return None if value is None else str(value).encode(errors="replace").decode()


def _length(received: bytearray) -> int:
    length = int.from_bytes(received[:LENGTH_BYTES], "big")
    if length > MAX_REQUEST_BYTES:
        raise ValueError("The request is too long")
    return length


def _bind(listener: socket.socket, path: Path) -> None:
    """Bind to a temporary name first: at its own name the socket appears only when it can be connected to."""
    temporary = path.with_name(f".{os.getpid()}.sock")
    temporary.unlink(missing_ok=True)
    listener.bind(str(temporary))
    temporary.chmod(0o600)
    listener.listen(128)
    listener.setblocking(False)
    temporary.replace(path)
