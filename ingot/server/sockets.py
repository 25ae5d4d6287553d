"""Choice of the application by the socket of a request, and of static sites by the host."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from socket import socket
from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.core.http.deferred_component import DeferredComponent
from ingot.core.http.frontend import HttpFrontend
from ingot.core.http.request import Message, Receive, Request, Send, Trace
from ingot.core.settings import Settings

Application = Callable[[Message, Receive, Send], Awaitable[None]]


class SiteSockets(NamedTuple):
    """Listening sockets of static sites."""

    http: socket | None = None
    https: socket | None = None

    @property
    def opened(self) -> list[socket]:
        """The sockets that exist."""
        return [each for each in self if each is not None]

    @property
    def ports(self) -> frozenset[int]:
        """The ports of the sockets."""
        return frozenset(each.getsockname()[1] for each in self.opened)

    def with_ports(self, settings: Settings) -> Settings:
        """Return the settings with the ports that the system has chosen."""
        if self.http is not None:
            settings = replace(settings, pages_port=self.http.getsockname()[1])
        if self.https is not None:
            settings = replace(settings, pages_https_port=self.https.getsockname()[1])
        return settings


class SitesByHost:
    """Component that serves the requests whose host is that of static sites, or a subdomain."""

    def __init__(self, settings: Settings, sites: DeferredComponent) -> None:
        self._sites = sites
        self._suffix = f".{settings.pages_host}" if settings.pages_host else ""

    def handles(self, request: Request) -> bool:
        """Return whether the host belongs to sites."""
        if not self._suffix:
            return False
        host = (urlsplit(request.origin.url).hostname or "").lower().rstrip(".")
        return f".{host}".endswith(self._suffix)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to a request for a site."""
        await self._sites.serve(request, send, trace)


class SocketRouter:
    """ASGI application that serves static sites on their ports, and everything else on the others."""

    def __init__(self, front: Application, sites_front: Callable[[], HttpFrontend], ports: frozenset[int]) -> None:
        self._front = front
        self._sites_front = sites_front
        self._ports = ports

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        local = scope.get("server")
        is_site = local is not None and local[1] in self._ports
        await (self._sites_front() if is_site else self._front)(scope, receive, send)
