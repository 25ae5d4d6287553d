"""Fixtures of the merge request pages."""

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project
from tests.client import Make
from tests.factories import make_group
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.merge_requests.scene import Open, Scene


@pytest.fixture(scope="module")
def scene(make: Make) -> Scene:
    """Return users, and a project in a group."""
    owner, developer, reporter, stranger = (make.user(password=PASSWORD) for _ in range(4))
    group = make_group(make, owner)
    members = {developer: Level.DEVELOPER, reporter: Level.REPORTER}
    project = filled_project(make, owner, group=group, members=members, visibility="private")
    make.api.delete(f"{project.url}/protected_branches/master", owner)
    return Scene(owner, developer, reporter, stranger, project)


@pytest.fixture
def browser(open_browser: Open, scene: Scene) -> Browser:
    """Return a browser of the developer."""
    return open_browser().signed_in_as(scene.developer)
