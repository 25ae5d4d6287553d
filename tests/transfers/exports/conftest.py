"""Fixtures of the tests of exports."""

import pytest

from tests.client import Make
from tests.transfers.exports.sample_project import SampleProject


@pytest.fixture(scope="session")
def sample(make: Make) -> SampleProject:
    """Return a project with data of every kind; no test changes it."""
    return SampleProject(make)
