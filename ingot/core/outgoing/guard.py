"""SSRF guard: resolves the host of a URL once, refuses private addresses, and returns the address to connect to.

The client must connect to that address. A second lookup could return another one (DNS rebinding), which is how such
guards are bypassed.
"""

import re
import socket
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ingot.core.outgoing.addresses import Network, is_permitted, parse_address
from ingot.core.outgoing.errors import HostUnresolved, RequestRefused
from ingot.core.outgoing.urls import UrlParts, split_url

_LOCAL_REFUSAL = "Requests to the local network are not allowed"
_LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "metadata.google.internal")
_NUMERIC_HOST = re.compile(r"0x[0-9a-f]*|[0-9]+")
_MAX_LENGTH = 2048


class PinnedUrl(NamedTuple):
    """Parts of a URL, and the address of its host that the guard checked."""

    scheme: str
    host: str
    port: int
    address: str
    target: str


class SsrfGuard:
    """Guard against server-side request forgery (SSRF).

    Networks in ``allowed`` are always permitted, other private addresses only with ``allow_local``.
    """

    def __init__(
        self,
        allow_local: bool = False,
        allowed: Sequence[Network] = (),
        resolve: Callable[..., Sequence[tuple[Any, ...]]] = socket.getaddrinfo,
    ) -> None:
        self._allow_local = allow_local
        self._allowed = tuple(allowed)
        self._resolve = resolve

    def check_url(self, url: str, *, credentials: bool = False) -> None:
        """Refuse a URL that is invalid or names a private address, without resolving its host.

        Only URLs of imports may contain credentials.
        """
        self._checked(url, credentials)

    def pin(self, url: str, *, credentials: bool = False) -> PinnedUrl:
        """Check a URL, resolve its host once, and return the address to connect to.

        Raise ``RequestRefused`` if any of the host's addresses is private, and ``HostUnresolved`` if the lookup fails.
        """
        parts = self._checked(url, credentials)
        address = self.resolve(parts.host, parts.port)
        return PinnedUrl(parts.scheme, parts.host, parts.port, address, parts.target)

    def _checked(self, url: str, credentials: bool) -> UrlParts:
        if len(url) > _MAX_LENGTH:
            raise RequestRefused("The URL is too long")
        parts = split_url(url)
        if parts.userinfo is not None and not credentials:
            raise RequestRefused("The URL must not contain a user name or password")
        self.check_host(parts.host)
        return parts

    def check_host(self, host: str) -> None:
        """Refuse a host in lower case that is invalid or a private address, without resolving it."""
        if host.startswith(".") or host.endswith("."):
            # A trailing dot names the same host, but curl would not apply the pinned address to it.
            raise RequestRefused("The URL's host must not begin or end with a dot")
        address = parse_address(host)
        if address is None:
            if ":" in host or _NUMERIC_HOST.fullmatch(host.rpartition(".")[2]):
                # Such as 0177.1 or 2130706433, which some parsers read as an address and others as a name.
                raise RequestRefused("The URL's address is written in an unusual way")
            if not self._allow_local and (host in _LOCAL_NAMES or host.endswith(".localhost")):
                raise RequestRefused(_LOCAL_REFUSAL)
        else:
            self._permit(host)

    def resolve(self, host: str, port: int) -> str:
        """Resolve a checked host once, and return the address to connect to; raise as ``pin`` does."""
        if parse_address(host) is not None:
            return host
        try:
            answers = self._resolve(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise HostUnresolved("The URL's host cannot be resolved") from error
        addresses = [str(answer[4][0]) for answer in answers]
        if not addresses:
            raise HostUnresolved("The URL's host cannot be resolved")
        for address in addresses:
            self._permit(address)
        return addresses[0]

    def _permit(self, text: str) -> None:
        address = parse_address(text)
        if address is None or not is_permitted(address, allow_local=self._allow_local, allowed=self._allowed):
            raise RequestRefused(_LOCAL_REFUSAL)
