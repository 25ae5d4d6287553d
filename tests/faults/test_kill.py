"""After kill -9 of any process, every change answered with 2xx persists."""

import os
import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from ingot.accounts.tokens.queries import private_token_or_none
from ingot.accounts.users.queries import user_by_username_or_none
from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.projects.namespaces.queries import namespace_or_none
from ingot.server.app import open_database
from tests.server.process import Server, ingot, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "3"))
WRITERS = 4


class UserLoad:
    """Threads that create users, and record acknowledged ones."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self._name = name
        self._stop = threading.Event()
        self.acknowledged: list[str] = []
        self.other: list[int] = []

    def _create(self, writer: int) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            username = f"{self._name}-{writer}-{number}"
            sent = {"username": username, "name": username, "email": f"{username}@example.org"}
            try:
                answer = self._server.call("POST", "/users", json={**sent, "force_random_password": True})
            except httpx.TransportError:
                continue
            if answer.status_code == 201:
                self.acknowledged.append(username)
            else:
                self.other.append(answer.status_code)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Create users for the duration of a block."""
        threads = [threading.Thread(target=self._create, args=(writer,)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


def _check_complete(data: Path, database_url: str, usernames: list[str]) -> None:
    database = open_database(Settings(data=data, database_url=database_url))

    def read(db: Connection) -> None:
        for username in usernames:
            user = user_by_username_or_none(db, username)
            assert user is not None, f"{username} was acknowledged, and is lost"
            namespace = namespace_or_none(db, username)
            assert namespace is not None and namespace.owner_id == user.id
            assert private_token_or_none(db, user.id)

    try:
        database.read(read)
    finally:
        database.close()
    if not database_url:
        connection = sqlite3.connect(data / "ingot.db")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()


def test_acknowledged_changes_survive(stopped: Server) -> None:
    chance = random.Random(ROUNDS)
    stopped.start("--workers", 2)
    known: list[str] = []
    for round_number in range(ROUNDS):
        load = UserLoad(stopped, f"round-{round_number}")
        enough = chance.randint(1, 40)
        with load.running():
            until("some users", lambda load=load, enough=enough: len(load.acknowledged) >= enough)  # type: ignore[misc]
            stopped.kill()
        known += load.acknowledged
        assert load.other == []
        stopped.start("--workers", 2)
        _check_complete(stopped.data, stopped.database_url, known)
    options = ["--database-url", stopped.database_url] if stopped.database_url else []
    assert ingot("doctor", "--data", stopped.data, *options).stdout == "No problems found.\n"


def test_sigterm_under_load_loses_nothing(stopped: Server) -> None:
    """Running requests are answered, acknowledged changes are kept, and the exit status is 0."""
    stopped.start("--workers", 2)
    load = UserLoad(stopped, "drained")
    with load.running():
        until("some users", lambda: len(load.acknowledged) >= 20)
        assert stopped.stop() == 0
    assert load.other == []
    stopped.start()
    _check_complete(stopped.data, stopped.database_url, load.acknowledged)
