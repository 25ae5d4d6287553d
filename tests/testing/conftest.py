"""One server with control endpoints for all tests of a module; each test begins with an empty instance."""

from collections.abc import Iterator

import pytest

from tests.testing.temporary_server import TemporaryServer, temporary_server


@pytest.fixture(scope="module")
def test_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporaryServer]:
    """Run a server with control endpoints."""
    with temporary_server(tmp_path_factory.mktemp("testing") / "server", "--testing") as server:
        yield server


@pytest.fixture
def server(test_server: TemporaryServer) -> TemporaryServer:
    """Return the server after a reset."""
    assert test_server.control("POST", "reset").status_code == 204
    return test_server
