"""Requests as the components see them, and the origin they came from."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from random import getrandbits
from typing import Any, Protocol

import msgspec

from ingot.core.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

_HOST = re.compile(rb"[A-Za-z0-9._-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")


class Origin(msgspec.Struct, frozen=True):
    """Client of a request, and the URL by which it reached this instance."""

    url: str
    """Scheme and host as the client wrote them; only for comparison with what the client sends."""
    base: str
    """The external URL, or ``url`` if none is configured; every URL in a response begins with it."""
    ip: str
    user_agent: str


class Request(msgspec.Struct):
    """HTTP request, as far as components need it."""

    method: str
    path: bytes
    """Path as the client wrote it, not decoded."""
    query: bytes
    headers: dict[bytes, bytes]
    origin: Origin
    receive: Receive


class Trace(msgspec.Struct):
    """Data of a request for the log and the metrics."""

    request_id: str
    status: int = 500
    answered: bool = False
    route: str = ""
    user: str = ""


class Component(Protocol):
    """Part of the server that responds to some of the requests, such as the API or the pages."""

    def handles(self, request: Request) -> bool:
        """Return whether this component responds to the request."""

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to a request that this component handles; an exception that escapes is an internal error."""


class InvalidHost(Exception):
    """Malformed Host header, or more than one."""


def request_id(headers: dict[bytes, bytes]) -> str:
    """Return the client's id of the request, or a new one."""
    given = headers.get(b"x-request-id", b"")
    return given.decode() if _REQUEST_ID.fullmatch(given) else f"{getrandbits(128):032x}"


class OriginResolver:
    """Resolver of request origins, which trusts forwarded headers only from trusted proxies."""

    def __init__(self, settings: Settings) -> None:
        self._external = settings.external_url.rstrip("/")
        self._fallback = f"{settings.host}:{settings.port}".encode()
        self._proxies = settings.proxies

    def resolve(self, scope: Message, headers: dict[bytes, bytes]) -> Origin:
        """Return the origin of a request; raise ``InvalidHost`` if the header is missing, malformed or repeated."""
        ip = self.peer_ip(scope)
        scheme: str = scope["scheme"]
        host = headers.get(b"host", b"")
        if not host:
            if scope.get("http_version") == "1.1":
                raise InvalidHost
            host = self._fallback
        if len(headers) != len(scope["headers"]) and _is_repeated(scope["headers"], b"host"):
            raise InvalidHost
        if self._proxies and self._trusts(ip):
            ip = self._forwarded_for(headers) or ip
            forwarded = headers.get(b"x-forwarded-proto", b"").decode("latin-1").strip().lower()
            scheme = forwarded if forwarded in ("http", "https") else scheme
            host = headers.get(b"x-forwarded-host", b"").split(b",")[0].strip() or host
        if not _HOST.fullmatch(host):
            raise InvalidHost
        url = f"{scheme}://{host.decode()}"
        return Origin(url, self._external or url, ip, headers.get(b"user-agent", b"").decode("latin-1")[:512])

    def peer_ip(self, scope: Message) -> str:
        """Return the address of the client that is connected, which may be a proxy."""
        client = scope.get("client")
        # An IPv6 socket shows IPv4 clients as ::ffff:192.0.2.1, which no IPv4 network contains.
        return client[0].removeprefix("::ffff:") if client else ""

    def forwarded_ip(self, scope: Message, headers: dict[bytes, bytes]) -> str:
        """Return the client's address according to a trusted proxy; empty if there is none."""
        return self._forwarded_for(headers) if self._trusts(self.peer_ip(scope)) else ""

    def _trusts(self, ip: str) -> bool:
        try:
            address = ip_address(ip)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)

    def _forwarded_for(self, headers: dict[bytes, bytes]) -> str:
        """Return the last address that is not a trusted proxy; the addresses before it may be forged."""
        addresses = [part.strip() for part in headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")]
        for ip in reversed(addresses):
            if not self._trusts(ip):
                try:
                    return str(ip_address(ip))
                except ValueError:
                    return ""
        return ""


def _is_repeated(headers: list[Header], name: bytes) -> bool:
    return sum(header == name for header, _ in headers) > 1
