"""Component whose modules are loaded when they are first needed: a server that only serves the API starts earlier."""

from collections.abc import Callable
from functools import cached_property

from ingot.core.http.request import Component, Request, Send, Trace


class DeferredComponent:
    """Component that is built when it is first asked whether it handles a request."""

    def __init__(self, build: Callable[[], Component]) -> None:
        self._build = build

    @cached_property
    def component(self) -> Component:
        """The component."""
        return self._build()

    def handles(self, request: Request) -> bool:
        """Return whether the component responds to the request."""
        return self.component.handles(request)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to a request."""
        await self.component.serve(request, send, trace)
