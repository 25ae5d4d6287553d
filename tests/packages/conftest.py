"""Fixtures of the tests of packages."""

from collections.abc import Iterator

import pytest

from tests.conftest import Instance
from tests.packages.client import PackageClient


@pytest.fixture(scope="module")
def send(instance: Instance) -> Iterator[PackageClient]:
    """Yield a client of the API for package managers."""
    client = PackageClient(instance)
    yield client
    client.close()
