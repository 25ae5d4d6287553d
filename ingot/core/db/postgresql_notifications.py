"""Announced roles and notifications on PostgreSQL, each on a connection of its own.

A connection pooler in transaction mode gives each transaction any connection of its pool. Without the URL of the server
itself, a role is then announced by a transaction that stays open, and changes are noticed by polling.
"""

import os
import select
import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

from ingot.core.db.announcements import CHANNEL, EVERYTHING, decode_topics
from ingot.core.db.engines import NOTIFY_CHANNEL, POLL_SECONDS
from ingot.core.errors import Unavailable

RECONNECT_SECONDS = 1.0
HEARTBEAT_SECONDS = 5.0


class _Server(Protocol):
    """Part of the engine that this module needs."""

    errors: type[Exception]
    version_statement: str

    @property
    def has_sessions(self) -> bool:
        """Whether connections keep their state between transactions."""

    def require_responsive(self) -> None:
        """Raise Unavailable if the server does not answer."""

    def connect_directly(self, *, read_only: bool) -> Any:
        """Return a new connection to the server itself."""

    def hold_role(self, role: str) -> Any:
        """Return a new connection that announces a role as long as it is open."""


class PostgresqlAnnouncement:
    """Announcement of a role by a thread that connects again whenever the connection is lost."""

    def __init__(self, engine: _Server, role: str) -> None:
        self._stop, self._stopper = os.pipe()
        self._watch = PostgresqlWatch(engine, role, listens=False)
        self._thread = threading.Thread(target=self._run, name=f"announcement of {role}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not select.select([self._stop], [], [], 0)[0]:
            self._watch.wait(HEARTBEAT_SECONDS, [self._stop])

    def close(self) -> None:
        """Stop announcing the role."""
        if self._stopper < 0:
            return
        os.close(self._stopper)
        self._stopper = -1
        self._thread.join()
        self._watch.close()
        os.close(self._stop)


class PostgresqlWatch:
    """Watch that listens on the connection that announces the role; it polls where the server cannot be reached."""

    def __init__(self, engine: _Server, role: str, *, listens: bool = True) -> None:
        self._engine = engine
        self._role = role
        self._listens = listens
        self._connection: Any = None
        self._notified = False
        """Whether a notification arrived together with the result of a statement, or a poll has found a commit."""
        self._version = ""
        self._connect()

    def _note(self, _: object) -> None:
        self._notified = True

    def _connect(self) -> None:
        try:
            self._engine.require_responsive()
            connection = self._engine.hold_role(self._role)
            if self._listens and self._engine.has_sessions:
                connection.add_notify_handler(self._note)
                connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
            self._connection = connection
        except (self._engine.errors, Unavailable):
            # The caller gets the same error, and the next call connects again.
            pass

    def wait(self, seconds: float, others: Sequence[int]) -> None:
        """Return when something may have changed since the last call, ``others`` are readable, or the time is over."""
        if self._connection is None:
            select.select(others, [], [], min(seconds, RECONNECT_SECONDS))
            # Notifications may have been missed meanwhile, so a new connection counts as a change.
            self._connect()
            return
        try:
            self._wait(time.monotonic() + seconds, others)
        except self._engine.errors:  # The next call connects again.
            self._connection.close()
            self._connection = None

    def _wait(self, deadline: float, others: Sequence[int]) -> None:
        descriptor = self._connection.fileno()
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            ready = select.select([descriptor, *others], [], [], min(remaining, self._pause))[0]
            if descriptor in ready:
                self._connection.pgconn.consume_input()
                while self._connection.pgconn.notifies():
                    pass
            elif not ready:
                self._check()
            if ready or self._notified or time.monotonic() >= deadline:
                self._notified = False
                return

    @property
    def _polls(self) -> bool:
        return self._listens and not self._engine.has_sessions

    @property
    def _pause(self) -> float:
        return POLL_SECONDS if self._polls else HEARTBEAT_SECONDS

    def _check(self) -> None:
        """Run a statement: a connection can be dead without notice; the role would then no longer be announced."""
        if not self._polls:
            self._connection.execute("SELECT 1")
            return
        version = self._connection.execute(self._engine.version_statement).fetchone()[0]
        # The first poll has nothing to compare with, so earlier commits count as new.
        self._notified, self._version = version != self._version, version

    def close(self) -> None:
        """Stop announcing the role."""
        if self._connection is not None:
            self._connection.close()


class PostgresqlListener:
    """Listener on a connection of its own, which is replaced when it is lost."""

    def __init__(self, engine: _Server) -> None:
        self._engine = engine
        self._connection: Any = None
        self._received: list[str] = []
        self._version = ""

    def wait(self, seconds: float, others: Sequence[int]) -> list[str]:
        """Return the topics since the last call, as soon as there are some, ``others`` are readable or time is over."""
        try:
            if self._connection is None:
                self._connect()
                return [EVERYTHING]  # Notifications may have been missed meanwhile.
            self._receive(time.monotonic() + seconds, others)
        except (self._engine.errors, Unavailable):  # The next call connects again.
            self.close()
            select.select(others, [], [], min(seconds, RECONNECT_SECONDS))
        messages, self._received = "".join(self._received), []
        return decode_topics(messages)

    def _connect(self) -> None:
        self._engine.require_responsive()
        self._connection = self._engine.connect_directly(read_only=True)
        if self._engine.has_sessions:
            self._connection.add_notify_handler(lambda notification: self._received.append(notification.payload))
            self._connection.execute(f"LISTEN {CHANNEL}")

    def _receive(self, deadline: float, others: Sequence[int]) -> None:
        while not self._received:
            pause = HEARTBEAT_SECONDS if self._engine.has_sessions else POLL_SECONDS
            remaining = min(max(0.0, deadline - time.monotonic()), pause)
            ready = select.select([self._connection.fileno(), *others], [], [], remaining)[0]
            if not ready and time.monotonic() >= deadline:
                return
            if any(descriptor in ready for descriptor in others):
                return
            self._check()

    def _check(self) -> None:
        """Run a statement: it shows that the connection is alive, and the driver passes notifications to the handler.

        Where nothing is notified, a commit of any transaction counts as a change of everything.
        """
        if self._engine.has_sessions:
            self._connection.execute("SELECT 1")
            return
        version = self._connection.execute(self._engine.version_statement).fetchone()[0]
        if version != self._version:
            self._version = version
            self._received.append(f"{EVERYTHING}\n")

    def close(self) -> None:
        """Stop listening."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
