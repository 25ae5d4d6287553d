"""Repositories that are written to; git has to find them sound after each test."""

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
    """A project with something in it."""
    writable = make_writable_repository(instance, make)
    yield writable
    writable.git("fsck", "--strict")


@pytest.fixture
def empty_writable(instance: Instance, make: Make) -> Iterator[WritableRepository]:
    """A project with nothing in it."""
    writable = make_empty_writable_repository(instance, make)
    yield writable
    writable.git("fsck", "--strict")
