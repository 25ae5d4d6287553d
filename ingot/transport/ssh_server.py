"""Built-in SSH server for git, on asyncssh."""

import logging
import socket
from time import monotonic

import asyncssh

from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.transport.connection_limits import ConnectionLimits
from ingot.transport.host_keys import host_keys
from ingot.transport.ssh_sessions import SshSessions
from ingot.transport.ssh_transfer import SshProcess, SshTransfer

USER = "git"
LOGIN_SECONDS = 20
"""Timeout for the key exchange and the authentication together."""
KEEP_ALIVE_SECONDS = 60
_DROP_REPORT_SECONDS = 60.0
CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr"]
"""Without ChaCha20, which OpenSSH prefers and which costs Python twice as much as these."""


class _Connection(asyncssh.SSHServer):
    """Connection that is authenticated by a known key."""

    def __init__(self, server: "SshServer") -> None:
        self._server = server
        self._connection: asyncssh.SSHServerConnection | None = None
        self._offered = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Close the connection if too many are unauthenticated, before the costly key exchange."""
        self._connection = conn
        peer = conn.get_extra_info("peername") or ("",)
        if not self._server.unauthenticated.admit(self, str(peer[0])):
            self._server.report_drops()
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - The reason does not matter.
        """Stop counting the connection."""
        self._server.unauthenticated.release(self)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - Every user has to authenticate.
        """Require authentication."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Allow public keys, and no other method."""
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Return whether an offered key is known; asyncssh checks the signature afterwards."""
        fingerprint = key.get_fingerprint("sha256")
        is_known = username == USER and await self._server.sessions.caller(fingerprint) is not None
        # After the lookup, which asyncssh cancels when the client offers another key meanwhile.
        self._offered = fingerprint
        return is_known

    def auth_completed(self) -> None:
        """Store the fingerprint; the key that was offered last is the one that was verified."""
        self._server.unauthenticated.release(self)
        if self._connection is not None:
            self._connection.set_extra_info(authenticated_key=self._offered)


class SshServer:
    """SSH server that runs git's services and nothing else."""

    def __init__(self, settings: Settings, sessions: SshSessions, log: Log) -> None:
        self._settings = settings
        self.sessions = sessions
        self.unauthenticated = ConnectionLimits()
        self._log = log
        self._next_report = 0.0

    async def listen(self, listener: socket.socket) -> asyncssh.SSHAcceptor:
        """Serve on an open socket, until the result is closed."""
        # Its information about a connection takes ten lines; the session is logged in one.
        asyncssh.set_log_level(logging.WARNING)
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

    def report_drops(self) -> None:
        """Log that connections are dropped, at most once a minute, because the caller may cause any number of lines."""
        if monotonic() >= self._next_report:
            self._next_report = monotonic() + _DROP_REPORT_SECONDS
            limits = self.unauthenticated
            self._log("ssh connections dropped", unauthenticated=len(limits), dropped=limits.dropped)

    async def _serve(self, process: SshProcess) -> None:
        process.exit(await self.sessions.run(SshTransfer(process, self._settings.slow_reader_seconds)))
