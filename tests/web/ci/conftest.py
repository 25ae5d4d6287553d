"""Fixture of a project with CI."""

from collections.abc import Iterator

import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.web.ci.scene import CiScene, make_scene


@pytest.fixture
def scene(make: Make, instance: Instance) -> Iterator[CiScene]:
    """Yield a project with a runner and a CI file on no branch yet."""
    scene = make_scene(make, instance)
    yield scene
    for browser in scene.browsers:
        browser.__exit__()
