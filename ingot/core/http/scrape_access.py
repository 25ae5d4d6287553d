"""Access to the metrics: by token, or from configured networks."""

import hmac
import re
from ipaddress import ip_address
from urllib.parse import parse_qs

from ingot.core.http.request import Message, OriginResolver
from ingot.core.settings import Settings, is_loopback

_FORWARDING_HEADERS = frozenset(
    {b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"true-client-ip", b"cf-connecting-ip"}
)
_FORWARDING_PREFIX = b"x-forwarded-"
_PORT = re.compile(r":[0-9]*$")


class ScrapeAccess:
    """Decision whether a request may read the metrics; others get a 404, as for an unknown path."""

    def __init__(self, settings: Settings, origins: OriginResolver) -> None:
        self._token = settings.metrics_token.encode()
        self._networks = settings.metrics_allowed_networks
        self._origins = origins

    def allows(self, scope: Message, headers: dict[bytes, bytes]) -> bool:
        """Return whether the request has the token or comes from an allowed network."""
        return self._has_token(scope, headers) or self._is_in_network(scope, headers)

    def _has_token(self, scope: Message, headers: dict[bytes, bytes]) -> bool:
        if not self._token:
            return False
        scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
        given = [bearer.strip()] if scheme.lower() == b"bearer" else []
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given += [token.encode() for token in query.get("token", [])]
        return any(hmac.compare_digest(token, self._token) for token in given)

    def _is_in_network(self, scope: Message, headers: dict[bytes, bytes]) -> bool:
        """Check the client's address.

        If a proxy has forwarded the request, only an address from a trusted proxy counts: every request through a proxy
        on this machine would otherwise seem to come from loopback. A proxy that adds no header may pass on the public
        name of the server as the host.
        """
        if any(name in _FORWARDING_HEADERS or name.startswith(_FORWARDING_PREFIX) for name in headers):
            address = self._origins.forwarded_ip(scope, headers)
        elif is_loopback(self._origins.peer_ip(scope)) and not is_loopback(_host(headers)):
            return False
        else:
            address = self._origins.peer_ip(scope)
        try:
            client = ip_address(address)
        except ValueError:
            return False
        return any(client in network for network in self._networks)


def _host(headers: dict[bytes, bytes]) -> str:
    return _PORT.sub("", headers.get(b"host", b"").decode("latin-1"))
