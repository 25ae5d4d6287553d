"""Built-in SSH server for git, on asyncssh."""

import socket

import asyncssh

from ingot.settings import Settings
from ingot.transport.host_keys import host_keys
from ingot.transport.ssh_sessions import SshSessions
from ingot.transport.ssh_transfer import SshProcess, SshTransfer

USER = "git"
LOGIN_SECONDS = 30
KEEP_ALIVE_SECONDS = 60
MAX_UNAUTHENTICATED = 200
"""Connections without authentication; further ones are closed, to limit the memory that they use."""
CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr"]
"""Without ChaCha20, which OpenSSH prefers and which costs Python twice as much as these."""


class _Connection(asyncssh.SSHServer):
    """Connection that is authenticated by a known key."""

    def __init__(self, server: "SshServer") -> None:
        self._server = server
        self._connection: asyncssh.SSHServerConnection | None = None
        self._offered = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Limit the number of unauthenticated connections."""
        self._connection = conn
        if len(self._server.unauthenticated) >= MAX_UNAUTHENTICATED:
            conn.abort()
        self._server.unauthenticated.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - The reason does not matter.
        """Forget the connection."""
        self._server.unauthenticated.discard(self)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - Every user has to authenticate.
        """Require authentication."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Allow public keys, and no other method."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Return whether an offered key is known; asyncssh checks the signature afterwards."""
        self._offered = key.get_fingerprint("sha256")
        return username == USER and self._server.sessions.caller(self._offered) is not None

    def auth_completed(self) -> None:
        """Store the fingerprint; the key that was offered last is the one that was verified."""
        self._server.unauthenticated.discard(self)
        if self._connection is not None:
            self._connection.set_extra_info(authenticated_key=self._offered)


class SshServer:
    """SSH server that runs git's services and nothing else."""

    def __init__(self, settings: Settings, sessions: SshSessions) -> None:
        self._settings = settings
        self.sessions = sessions
        self.unauthenticated: set[_Connection] = set()

    async def listen(self, listener: socket.socket) -> asyncssh.SSHAcceptor:
        """Serve on an open socket, until the result is closed."""
        return await asyncssh.listen(
            sock=listener,
            server_factory=lambda: _Connection(self),
            server_host_keys=[str(path) for path in host_keys(self._settings.data)],
            process_factory=self._serve,
            encoding=None,
            allow_pty=False,
            line_editor=False,
            agent_forwarding=False,
            x11_forwarding=False,
            allow_scp=False,
            sftp_factory=None,
            compression_algs=["none"],
            encryption_algs=CIPHERS,
            login_timeout=LOGIN_SECONDS,
            keepalive_interval=KEEP_ALIVE_SECONDS,
            server_version="Ingot",
        )

    async def _serve(self, process: SshProcess) -> None:
        result = await self.sessions.run(SshTransfer(process))
        process.exit(result.status)
