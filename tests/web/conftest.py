"""Fixtures of browsers for tests of pages, each with unused rate limits."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import delete

from ingot.accounts.instance.tables import throttles
from tests.client import Make, User
from tests.conftest import Instance
from tests.web.browser import Browser

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def reset_rate_limits(instance: Instance) -> None:
    """Reset the limits, because all tests have the same address."""
    instance.app.database.write(lambda db: db.run(delete(throttles)))


@pytest.fixture
def open_browser(instance: Instance) -> Iterator[Callable[[], Browser]]:
    """Yield a function that opens isolated browsers."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Browser(instance.url))


@pytest.fixture
def browser(open_browser: Callable[[], Browser]) -> Browser:
    """Return a browser without a session."""
    return open_browser()


@pytest.fixture
def person(make: Make) -> User:
    """Return a user with a password."""
    return make.user(password=PASSWORD)
