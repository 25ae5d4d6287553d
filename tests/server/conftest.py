"""Fixtures for one instance per test, on the database of the run."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.process import Server, fresh_database


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a data directory that does not exist yet."""
    return tmp_path / "data"


def database_name(request: pytest.FixtureRequest) -> str:
    """Return a name for a database that no other test uses."""
    return f"test_{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def empty_database(database_url: str, request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty PostgreSQL database, or None for SQLite."""
    return fresh_database(database_url, database_name(request))


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Server:
    """Return an instance after its first start; it is copied for each test, and never served."""
    instance = Server(tmp_path_factory.mktemp("begun") / "data", fresh_database(database_url, "begun"))
    instance.prepare()
    return instance


@pytest.fixture
def server(place: Path, database_url: str, begun: Server, request: pytest.FixtureRequest) -> Iterator[Server]:
    """Yield a running server."""
    shutil.copytree(begun.data, place)
    server = Server(place, fresh_database(database_url, database_name(request), template="begun"))
    try:
        yield server.start()
    finally:
        server.kill()


@pytest.fixture
def stopped(place: Path, empty_database: str) -> Iterator[Server]:
    """Yield a server that is not started yet."""
    server = Server(place, empty_database)
    try:
        yield server
    finally:
        server.kill()
