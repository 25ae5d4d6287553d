"""Writable repositories, checked with git fsck after each test."""

from collections.abc import Iterator

import pytest

from tests.api.repository.writable_repository import (
    WritableRepository,
    make_empty_writable_repository,
    make_writable_repository,
)
from tests.client import Make
from tests.conftest import Instance


@pytest.fixture
def writable(instance: Instance, make: Make) -> Iterator[WritableRepository]:
    """Yield a project with a first commit."""
    writable = make_writable_repository(instance, make)
    yield writable
    writable.git("fsck", "--strict")


@pytest.fixture
def empty_writable(instance: Instance, make: Make) -> Iterator[WritableRepository]:
    """Yield an empty project."""
    writable = make_empty_writable_repository(instance, make)
    yield writable
    writable.git("fsck", "--strict")
