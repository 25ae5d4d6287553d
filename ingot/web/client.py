"""Internal client of one page request, which calls API endpoints as the current user."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ingot.core.api.internal_client import InternalCaller, InternalClient, P, S, Target, V, WorksOn


class PageClient(NamedTuple):
    """Client that calls API endpoints by their handlers, as the current user."""

    internal: InternalClient
    caller: InternalCaller

    def ask(
        self, endpoint: Callable[..., V], params: dict[str, Any] | None, path: Mapping[str, object], root: str = ""
    ) -> V:
        """Call an endpoint and return its response; raise the errors that the API would respond with.

        ``path`` holds the path parameters, ``params`` the query and body. If one handler serves both projects and
        groups, ``root`` is the first segment of the path.
        """
        return self.internal.call(self.caller, endpoint, _target(path, root), params or {})

    def find(self, endpoint: WorksOn[S, P], path: Mapping[str, object], root: str = "") -> S:
        """Return the subject that an endpoint finds by its path, if the user has permission to call it."""
        return self.internal.find(self.caller, endpoint, _target(path, root))

    def may(self, endpoint: Callable[..., object], path: Mapping[str, object], root: str = "") -> bool:
        """Return whether a call would be allowed, so that the page offers it."""
        return self.internal.allows(self.caller, endpoint, _target(path, root))


def _target(path: Mapping[str, object], root: str) -> Target:
    return Target({name: str(value) for name, value in path.items()}, root)
