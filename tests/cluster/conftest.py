"""Two nodes of an instance on PostgreSQL that share a data directory."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.node import Node
from tests.server.conftest import database_name
from tests.server.process import Server, fresh_database

SHARED = "INGOT_TEST_SHARED_DIRECTORIES"
"""Variable with two mount points of one shared file system, separated by a colon."""


@pytest.fixture
def nodes(
    tmp_path: Path, database_url: str, initialized_instance: Server, request: pytest.FixtureRequest
) -> Iterator[list[Node]]:
    """Yield two nodes that are not started yet; each has its own mount point if the test run names some."""
    if not database_url:
        pytest.skip("An embedded database has one node.")
    mounts = [Path(mount) for mount in os.environ.get(SHARED, "").split(":") if mount] or [tmp_path, tmp_path]
    name = database_name(request)
    shutil.copytree(initialized_instance.data, mounts[0] / name)
    url = fresh_database(database_url, name, template="initialized")
    nodes = [Node(mount / name, url, tmp_path, f"node-{number}") for number, mount in enumerate(mounts)]
    try:
        yield nodes
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(mounts[0] / name, ignore_errors=True)
