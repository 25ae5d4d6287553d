"""Project with members of several roles, on whose merge request pages the tests act."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.client import Api, User
from tests.factories import Project
from tests.web.browser import Browser

Open = Callable[[], Browser]


class Scene(NamedTuple):
    """Private project with a developer, a reporter and another user."""

    owner: User
    developer: User
    reporter: User
    stranger: User
    project: Project

    def page(self, request: dict[str, Any]) -> str:
        """Return the path of a merge request's page."""
        return f"/{self.project.path}/-/merge_requests/{request['iid']}"


def current_state(api: Api, scene: Scene, request: dict[str, Any]) -> dict[str, Any]:
    """Return a merge request as the API shows it now."""
    found: dict[str, Any] = api.get(f"{scene.project.url}/merge_requests/{request['iid']}", scene.owner).json()
    return found
