"""Browsers for the tests of pages, each with a fresh count of tries."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import delete

from ingot.accounts.instance.tables import throttles
from tests.client import Make, Person
from tests.conftest import Instance
from tests.web.browser import Browser

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def no_tries_yet(instance: Instance) -> None:
    """All tests come from one address, whose tries would add up."""
    instance.app.database.write(lambda db: db.run(delete(throttles)))


@pytest.fixture
def open_browser(instance: Instance) -> Iterator[Callable[[], Browser]]:
    """Opens browsers that share nothing."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Browser(instance.url))


@pytest.fixture
def browser(open_browser: Callable[[], Browser]) -> Browser:
    """A browser in which nobody signed in."""
    return open_browser()


@pytest.fixture
def person(make: Make) -> Person:
    """Somebody with a password."""
    return make.user(password=PASSWORD)
