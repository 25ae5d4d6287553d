"""An instance per test, on the database that the run is for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.process import Server, fresh_database


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A data directory that does not exist yet."""
    return tmp_path / "data"


@pytest.fixture
def empty_database(database_url: str, request: pytest.FixtureRequest) -> str:
    """The URL of an empty PostgreSQL database, or nothing: then the embedded one is used."""
    return fresh_database(database_url, f"test_{abs(hash(request.node.nodeid)):x}")


@pytest.fixture
def server(place: Path, empty_database: str) -> Iterator[Server]:
    """A server that runs."""
    server = Server(place, empty_database)
    try:
        yield server.start()
    finally:
        server.kill()


@pytest.fixture
def stopped(place: Path, empty_database: str) -> Iterator[Server]:
    """A server that was not started yet."""
    server = Server(place, empty_database)
    try:
        yield server
    finally:
        server.kill()
