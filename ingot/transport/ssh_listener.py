"""Socket of the SSH server, whose modules are imported by the first connection: asyncssh takes 10 MB of memory."""

import asyncio
import socket
from importlib import import_module
from typing import TYPE_CHECKING

from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.transport.host_keys import host_keys
from ingot.transport.ssh_sessions import SshSessions

if TYPE_CHECKING:
    from asyncssh import SSHAcceptor

    from ingot.transport.ssh_server import SshServer


class SshListener:
    """Listener that starts the SSH server when a client connects; the client waits in the queue of the socket."""

    def __init__(self, settings: Settings, sessions: SshSessions, log: Log, listener: socket.socket) -> None:
        self._settings = settings
        self._sessions = sessions
        self._log = log
        self._listener = listener
        self._server: SshServer | None = None
        self._acceptor: SSHAcceptor | None = None
        self._starting: asyncio.Task[None] | None = None

    @property
    def sessions(self) -> SshSessions:
        """The sessions of new connections."""
        return self._sessions

    @sessions.setter
    def sessions(self, sessions: SshSessions) -> None:
        self._sessions = sessions
        if self._server is not None:
            self._server.sessions = sessions

    def start(self) -> None:
        """Wait for the first connection; create the host keys, so that this cannot fail then."""
        host_keys(self._settings.data)
        asyncio.get_running_loop().add_reader(self._listener, self._begin)

    def _begin(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        self._starting = asyncio.ensure_future(self._serve())

    async def _serve(self) -> None:
        module = await asyncio.to_thread(import_module, "ingot.transport.ssh_server")
        server: SshServer = module.SshServer(self._settings, self._sessions, self._log)
        self._server = server
        self._acceptor = await server.listen(self._listener)

    async def close(self) -> None:
        """Accept no more connections."""
        asyncio.get_running_loop().remove_reader(self._listener)
        if self._starting is not None:
            await self._starting
        if self._acceptor is not None:
            self._acceptor.close()
        self._listener.close()
