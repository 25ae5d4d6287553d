"""SSRF guard: resolves the host of a URL once, refuses private addresses, and returns the address to connect to.

The client must connect to that address. A second lookup could return another one (DNS rebinding), which is how such
guards are bypassed. Administrators can turn this protection off, for resolvers whose answers change: the guard then
checks the addresses, but the client connects to the name.
"""

import re
import socket
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

from ingot.core.outgoing.addresses import Address, Network, is_in_networks, is_permitted, parse_address
from ingot.core.outgoing.errors import HostUnresolved, RequestRefused
from ingot.core.outgoing.urls import UrlParts, split_url

_LOCAL_REFUSAL = "Requests to the local network are not allowed"
_UNLISTED_REFUSAL = "Requests to hosts that are not in the allow list are not allowed"
_LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "metadata.google.internal")
_NUMERIC_HOST = re.compile(r"0x[0-9a-f]*|[0-9]+")
_MAX_LENGTH = 2048


class PinnedUrl(NamedTuple):
    """Parts of a URL, and the address of its host that the guard checked; its name without DNS rebinding protection."""

    scheme: str
    host: str
    port: int
    address: str
    target: str


class OutgoingRules(NamedTuple):
    """Rules that administrators have set, in addition to those of the startup settings."""

    allow_local: bool = False
    allow_local_from_system_hooks: bool = False
    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()
    """Names, or names with a port after a colon, that may be reached wherever they are."""
    only_listed: bool = False
    """Refuse requests to all other networks and hosts."""
    silent: bool = False
    """Refuse requests that send something: nothing leaves the server."""
    pinned: bool = True
    """Connect to the checked address; otherwise the client resolves the name again."""

    def lists(self, host: str, port: int) -> bool:
        """Return whether a host may be reached wherever it is."""
        return host in self.hosts or f"{host}:{port}" in self.hosts


class SsrfGuard:
    """Guard against server-side request forgery (SSRF).

    Networks in ``allowed`` are always permitted, other private addresses only with ``allow_local``. ``rules`` returns
    what administrators allow besides.
    """

    def __init__(
        self,
        allow_local: bool = False,
        allowed: Sequence[Network] = (),
        resolve: Callable[..., Sequence[tuple[Any, ...]]] = socket.getaddrinfo,
        rules: Callable[[], OutgoingRules] = OutgoingRules,
    ) -> None:
        self.rules = rules
        self._for_system_hooks = False
        self._allow_local = allow_local
        self._allowed = tuple(allowed)
        self._resolve = resolve

    def for_system_hooks(self) -> "SsrfGuard":
        """Return a guard of requests of system hooks, which have a rule of their own."""
        guard = copy(self)
        guard._for_system_hooks = True
        return guard

    def under(self, rules: OutgoingRules) -> "SsrfGuard":
        """Return a guard with rules that were read before."""
        guard = copy(self)
        guard.rules = lambda: rules
        return guard

    def check_url(self, url: str, *, credentials: bool = False) -> None:
        """Refuse a URL that is invalid or names a private address, without resolving its host.

        Only URLs of imports may contain credentials.
        """
        self._checked(url, credentials)

    def pin(self, url: str, *, credentials: bool = False) -> PinnedUrl:
        """Check a URL, resolve its host once, and return the address to connect to.

        Raise ``RequestRefused`` if any of the host's addresses is private, and ``HostUnresolved`` if the lookup fails.
        Without DNS rebinding protection, return the name, even one that is not resolved if all hosts are allowed.
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
        self.check_host(parts.host, parts.port)
        return parts

    def check_host(self, host: str, port: int) -> None:
        """Refuse a host in lower case that is invalid or a private address, without resolving it."""
        if host.startswith(".") or host.endswith("."):
            # A trailing dot names the same host, but curl would not apply the pinned address to it.
            raise RequestRefused("The URL's host must not begin or end with a dot")
        address, rules = parse_address(host), self.rules()
        if address is None:
            if ":" in host or _NUMERIC_HOST.fullmatch(host.rpartition(".")[2]):
                # Such as 0177.1 or 2130706433, which some parsers read as an address and others as a name.
                raise RequestRefused("The URL's address is written in an unusual way")
            local = host in _LOCAL_NAMES or host.endswith(".localhost")
            if local and not (self._allows_local(rules) or rules.lists(host, port)):
                raise RequestRefused(_LOCAL_REFUSAL)
            # Only a lookup tells whether a name has an address in a listed network; without these, none is needed.
            if rules.only_listed and not (rules.lists(host, port) or rules.networks or self._allowed):
                raise RequestRefused(_UNLISTED_REFUSAL)
        else:
            self._permit(address, rules, listed=rules.lists(host, port))

    def resolve(self, host: str, port: int) -> str:
        """Resolve a checked host once, and return the address to connect to; raise as ``pin`` does."""
        rules = self.rules()
        if rules.silent:
            raise RequestRefused("The server is in silent mode")
        if parse_address(host) is not None:
            return host
        try:
            addresses = self._lookup(host, port)
        except HostUnresolved:
            if rules.pinned or (rules.only_listed and not rules.lists(host, port)):
                raise
            return host
        for address in addresses:
            self._permit(parse_address(address), rules, listed=rules.lists(host, port))
        return addresses[0] if rules.pinned else host

    def _lookup(self, host: str, port: int) -> list[str]:
        try:
            answers = self._resolve(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise HostUnresolved("The URL's host cannot be resolved") from error
        if not answers:
            raise HostUnresolved("The URL's host cannot be resolved")
        return [str(answer[4][0]) for answer in answers]

    def _allows_local(self, rules: OutgoingRules) -> bool:
        by_rule = rules.allow_local_from_system_hooks if self._for_system_hooks else rules.allow_local
        return self._allow_local or by_rule

    def _permit(self, address: Address | None, rules: OutgoingRules, *, listed: bool) -> None:
        networks, local = (*self._allowed, *rules.networks), listed or self._allows_local(rules)
        if address is None or not is_permitted(address, allow_local=local, allowed=networks):
            raise RequestRefused(_LOCAL_REFUSAL)
        if rules.only_listed and not (listed or is_in_networks(address, networks)):
            raise RequestRefused(_UNLISTED_REFUSAL)
