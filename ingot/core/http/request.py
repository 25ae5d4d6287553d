"""A request as the doors see it, and how the caller reached us."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from random import getrandbits
from typing import Any, Protocol

import msgspec

from ingot.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

_HOST = re.compile(rb"[A-Za-z0-9._-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")


class Origin(msgspec.Struct, frozen=True):
    """Where a request came from and how the caller reached us."""

    url: str
    """Scheme and host as the caller wrote them; links of lists begin with it."""
    base: str
    """The external URL; every ``web_url`` begins with it."""
    ip: str
    user_agent: str


class Request(msgspec.Struct):
    """What doors need of an HTTP request."""

    method: str
    path: bytes
    """As the caller wrote it, undecoded."""
    query: bytes
    headers: dict[bytes, bytes]
    origin: Origin
    receive: Receive


class Trace(msgspec.Struct):
    """What the log and the metrics may say of a request once it is answered."""

    request_id: str
    status: int = 500
    answered: bool = False
    route: str = ""
    user: str = ""


class Component(Protocol):
    """Answers the requests below one prefix."""

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer a request; an exception that leaves here is a fault of ours."""


class InvalidHost(Exception):
    """The Host header cannot be one."""


def request_id(headers: dict[bytes, bytes]) -> str:
    """The caller's own id of the request, or a new one."""
    given = headers.get(b"x-request-id", b"")
    return given.decode() if _REQUEST_ID.fullmatch(given) else f"{getrandbits(128):032x}"


class OriginResolver:
    """Tells where requests came from; forwarded headers count only from trusted proxies."""

    def __init__(self, settings: Settings) -> None:
        self._external = settings.external_url.rstrip("/")
        self._fallback = f"{settings.host}:{settings.port}".encode()
        self._proxies = settings.proxies

    def of(self, scope: Message, headers: dict[bytes, bytes]) -> Origin:
        """The origin of one request."""
        client = scope.get("client")
        ip: str = client[0] if client else ""
        scheme: str = scope["scheme"]
        host = headers.get(b"host") or self._fallback
        if self._proxies and self._trusts(ip):
            ip = self._forwarded_for(headers) or ip
            forwarded = headers.get(b"x-forwarded-proto", b"").decode("latin-1").strip().lower()
            scheme = forwarded if forwarded in ("http", "https") else scheme
            host = headers.get(b"x-forwarded-host", b"").split(b",")[0].strip() or host
        if not _HOST.fullmatch(host):
            raise InvalidHost
        url = f"{scheme}://{host.decode()}"
        return Origin(url, self._external or url, ip, headers.get(b"user-agent", b"").decode("latin-1")[:512])

    def _trusts(self, ip: str) -> bool:
        try:
            address = ip_address(ip)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)

    def _forwarded_for(self, headers: dict[bytes, bytes]) -> str:
        """The nearest address that is not one of our proxies; what lies beyond it may be invented."""
        named = [part.strip() for part in headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")]
        for ip in reversed(named):
            if not self._trusts(ip):
                try:
                    return str(ip_address(ip))
                except ValueError:
                    return ""
        return ""
