"""Fixtures for imports into projects."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.projects.import_server import Importer, SlowServer, filled, serving_importer
from tests.git.git_server import serving
from tests.server.process import fresh_database


@pytest.fixture(scope="module")
def importer(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_url: str
) -> Iterator[Importer]:
    """Yield a running instance whose imports may reach loopback; the address check of each test decides."""
    name = request.module.__name__.rpartition(".test_")[2]
    with serving_importer(tmp_path_factory.mktemp(name), fresh_database(database_url, name)) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SlowServer]:
    """Yield a git server with one repository."""
    with serving(SlowServer(filled(tmp_path / "served"))) as running:
        yield running
        running.release()
