"""Server that consists of one process: HTTP, jobs in a thread, and SSH in the same event loop if it is requested.

It starts in half the time of a server with a supervisor and needs a third of the memory. Temporary instances use it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from socket import socket
from typing import TYPE_CHECKING

from ingot.core.db.clocks import wall_clock
from ingot.core.db.times import Timestamp
from ingot.core.http.request import Message, Receive, Send
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import App, open_database
from ingot.server.background_jobs import BackgroundJobs

if TYPE_CHECKING:
    from ingot.transport.ssh_listener import SshListener

_DRAIN_SECONDS = 2.0


class SingleProcess:
    """The parts of the server; all of them use one database object, and the application can be replaced."""

    def __init__(
        self,
        settings: Settings,
        log: Log,
        ssh_listener: socket | None = None,
        clock: Callable[[], Timestamp] = wall_clock,
        *,
        automatic_jobs: bool = True,
    ) -> None:
        self.settings = settings
        self._log = log
        self._ssh_listener = ssh_listener
        self._ssh: SshListener | None = None
        self._automatic_jobs = automatic_jobs
        self.database = open_database(settings, clock)
        self.app = self._build_app()
        self.jobs = BackgroundJobs(settings, self.database, log)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        await self.app.front(scope, receive, send)

    def drain(self) -> None:
        """Report that the server is not ready."""
        self.app.drain()

    def expects_requests(self) -> bool:
        """Return whether a client is between the requests of a push or fetch."""
        return self.app.expects_requests()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run jobs and serve SSH during a block; close everything afterwards."""
        if self._ssh_listener is not None:
            from ingot.transport.ssh_listener import SshListener
            from ingot.transport.ssh_sessions import SshSessions

            sessions = SshSessions(self.settings, self.database, self._log)
            self._ssh = SshListener(self.settings, sessions, self._log, self._ssh_listener)
            self._ssh.start()
        if self._automatic_jobs:
            self.jobs.start()
        try:
            yield
        finally:
            if self._ssh is not None:
                await self._ssh.close()
                await self._end_ssh_sessions()
            await asyncio.to_thread(self.jobs.stop)
            self.app.close()

    @asynccontextmanager
    async def halted(self) -> AsyncIterator[None]:
        """Run nothing during a block, and continue with a new application, which has no state in memory.

        The caller lets no HTTP request in.
        """
        pause = self.jobs.paused()
        await asyncio.to_thread(pause.__enter__)
        try:
            if self._ssh is not None:
                await self._end_ssh_sessions()
            self.app.close()
            try:
                yield
            finally:
                self.app = self._build_app()
                if self._ssh is not None:
                    from ingot.transport.ssh_sessions import SshSessions

                    self._ssh.sessions = SshSessions(self.settings, self.database, self._log)
        finally:
            pause.__exit__(None, None, None)

    def _build_app(self) -> App:
        # Without the roles of other processes, whose state the health checks would report.
        return App(self.settings, self.database, self._log, None, roles=())

    async def _end_ssh_sessions(self) -> None:
        assert self._ssh is not None  # noqa: S101 - Checked by the callers.
        await self._ssh.sessions.drain(_DRAIN_SECONDS)
        self._ssh.sessions.close()
