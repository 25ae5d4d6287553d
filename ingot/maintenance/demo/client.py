"""Client of the demo: calls API endpoints in process, as the demo users."""

from collections.abc import Callable
from typing import Any

from ingot.core.access.actor import Actor
from ingot.core.api.internal_client import InternalCaller, InternalClient, Target, V
from ingot.core.http.request import Origin
from ingot.maintenance.demo.work_items import GROUP, PROJECT


class DemoClient:
    """Calls endpoints of one project as one of the demo users."""

    def __init__(
        self, inside: InternalClient, actors: dict[str, Actor], base_url: str, project: str = f"{GROUP}/{PROJECT}"
    ) -> None:
        self._inside = inside
        self._actors = actors
        self._base_url = base_url
        self._origin = Origin(base_url, base_url, "127.0.0.1", "ingot demo")
        self.project = project

    def of_project(self, path: str) -> "DemoClient":
        """Return a client for another project."""
        return DemoClient(self._inside, self._actors, self._base_url, path)

    def user_id(self, username: str) -> int:
        """Return the id of a demo user."""
        return self._actors[username].user_id

    def ask_instance(self, username: str, endpoint: Callable[..., V], sent: dict[str, Any], **path: object) -> V:
        """Call an endpoint that concerns no project and return its response."""
        caller = InternalCaller(self._actors[username], self._origin)
        return self._inside.call(caller, endpoint, Target({name: str(value) for name, value in path.items()}), sent)

    def ask(self, username: str, endpoint: Callable[..., V], sent: dict[str, Any], **path: object) -> V:
        """Call an endpoint of the project and return its response."""
        path_params = {"id": self.project} | {name: str(value) for name, value in path.items()}
        caller = InternalCaller(self._actors[username], self._origin)
        return self._inside.call(caller, endpoint, Target(path_params, "projects"), sent)
