"""The one guard for requests that leave the house: it looks a name up once, and names the address to connect to.

Whoever connects must use that address. A second look-up could be answered differently, and that is how such
guards are got round.
"""

import re
import socket
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ingot.core.outgoing.addresses import Network, is_permitted, parse_address
from ingot.core.outgoing.refusal import HostNotResolved, OutgoingRequestBlocked
from ingot.core.outgoing.urls import UrlParts, parse_url, redact_text, redact_url, strip_credentials

__all__ = [
    "HostNotResolved",
    "OutgoingRequestBlocked",
    "PinnedUrl",
    "SsrfGuard",
    "redact_text",
    "redact_url",
    "strip_credentials",
]

_LOCAL_REFUSAL = "Requests to the local network are not allowed"
_LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "metadata.google.internal")
_NUMERIC_HOST = re.compile(r"0x[0-9a-f]*|[0-9]+")
_MAX_URL_LENGTH = 2048


class PinnedUrl(NamedTuple):
    """Where a URL leads: what it says, and the address that was found fit for it."""

    scheme: str
    host: str
    port: int
    address: str
    target: str


class SsrfGuard:
    """Decides what may be reached; ``allowed`` networks always may, local ones only with ``allow_local``."""

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
        """Refuse a URL that can be told to be unfit without asking anybody; only imports may carry credentials."""
        self._checked(url, credentials)

    def pin(self, url: str, *, credentials: bool = False) -> PinnedUrl:
        """Check a URL, look its host up once, and give the address to connect to.

        One bad answer among good ones refuses them all, and so does a look-up that fails.
        """
        parts = self._checked(url, credentials)
        address = self._lookup(parts)
        return PinnedUrl(parts.scheme, parts.host, parts.port, address, parts.target)

    def _checked(self, url: str, credentials: bool) -> UrlParts:
        if len(url) > _MAX_URL_LENGTH:
            raise OutgoingRequestBlocked("The URL is too long")
        parts = parse_url(url)
        if parts.userinfo is not None and not credentials:
            raise OutgoingRequestBlocked("The URL must not hold a user name or password")
        host = parts.host
        if host.startswith(".") or host.endswith("."):
            # With a dot at its end it is the same host, but curl would not recognise the name that we pinned.
            raise OutgoingRequestBlocked("The URL's host must not begin or end with a dot")
        address = parse_address(host)
        if address is None:
            if ":" in host or _NUMERIC_HOST.fullmatch(host.rpartition(".")[2]):
                # Such as 0177.1 or 2130706433, which some parsers take for an address and others for a name.
                raise OutgoingRequestBlocked("The URL's address is written in an unusual way")
            if not self._allow_local and (host in _LOCAL_NAMES or host.endswith(".localhost")):
                raise OutgoingRequestBlocked(_LOCAL_REFUSAL)
        else:
            self._permit(host)
        return parts

    def _lookup(self, parts: UrlParts) -> str:
        if parse_address(parts.host) is not None:
            return parts.host
        try:
            answers = self._resolve(parts.host, parts.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise HostNotResolved("The URL's host cannot be resolved") from error
        found = [str(answer[4][0]) for answer in answers]
        if not found:
            raise HostNotResolved("The URL's host cannot be resolved")
        for address in found:
            self._permit(address)
        return found[0]

    def _permit(self, text: str) -> None:
        address = parse_address(text)
        if address is None or not is_permitted(address, allow_local=self._allow_local, allowed=self._allowed):
            raise OutgoingRequestBlocked(_LOCAL_REFUSAL)
