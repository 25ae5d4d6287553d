"""Component whose modules are loaded when they are first needed: a server that only serves the API starts earlier."""

import re
from collections.abc import Callable
from functools import cached_property

from ingot.core.http.request import Component, Request, Send, Trace


class DeferredComponent:
    """Component that is built when it is first asked whether it handles a request, if ``paths`` matches the path."""

    def __init__(self, build: Callable[[], Component], paths: re.Pattern[bytes] | None = None) -> None:
        self._build = build
        self._paths = paths

    @cached_property
    def component(self) -> Component:
        """The component."""
        return self._build()

    def handles(self, request: Request) -> bool:
        """Return whether the component responds to the request."""
        return (self._paths is None or self._paths.fullmatch(request.path) is not None) and self.component.handles(
            request
        )

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to a request."""
        await self.component.serve(request, send, trace)
