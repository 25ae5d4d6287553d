"""Fixtures for one instance per test, on the database of the run."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.process import Server, fresh_database


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """Return a data directory that does not exist yet."""
    return tmp_path / "data"


def database_name(request: pytest.FixtureRequest) -> str:
    """Return a name for a database that no other test uses."""
    return f"test_{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def empty_database(database_url: str, request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty PostgreSQL database, or an empty string for SQLite."""
    return fresh_database(database_url, database_name(request))


@pytest.fixture
def initialized(
    data_folder: Path, database_url: str, initialized_instance: Server, request: pytest.FixtureRequest
) -> Iterator[Server]:
    """Yield a server that has been started before, but is stopped."""
    shutil.copytree(initialized_instance.data, data_folder)
    server = Server(data_folder, fresh_database(database_url, database_name(request), template="initialized"))
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def server(initialized: Server) -> Server:
    """Return a running server."""
    return initialized.start()


@pytest.fixture
def stopped(data_folder: Path, empty_database: str) -> Iterator[Server]:
    """Yield a server that is not started yet."""
    server = Server(data_folder, empty_database)
    try:
        yield server
    finally:
        server.kill()
