"""Repositories that are written to; git has to find them sound after each test."""

from collections.abc import Iterator

import pytest

from tests.api.repository.workshop import Workshop, make_empty_workshop, make_workshop
from tests.client import Make
from tests.conftest import House


@pytest.fixture
def shop(house: House, make: Make) -> Iterator[Workshop]:
    """A project with something in it."""
    shop = make_workshop(house, make)
    yield shop
    shop.git("fsck", "--strict")


@pytest.fixture
def empty_shop(house: House, make: Make) -> Iterator[Workshop]:
    """A project with nothing in it."""
    shop = make_empty_workshop(house, make)
    yield shop
    shop.git("fsck", "--strict")
