"""A receiver, and a dispatcher that reaches it beside the server under test."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ingot.app import hook_dispatcher, open_database
from ingot.hooks.delivery.dispatcher import Dispatcher
from ingot.log import Log
from tests.api.hooks.receiver import Receiver
from tests.conftest import House


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Somebody who is told."""
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="package")
def dispatcher(house: House) -> Iterator[Dispatcher]:
    """Delivers what the server has to tell; local addresses may be reached, by it and by who saves a hook."""
    allowed, before = replace(house.settings, allow_local_requests=True), house.app.kernel._settings
    house.app.kernel._settings = allowed
    database = open_database(house.settings)
    dispatcher = hook_dispatcher(allowed, database, Log("json", house.log))
    dispatcher.start()
    yield dispatcher
    assert dispatcher.stop()
    house.app.kernel._settings = before
    database.close()
