"""Limits of SSH connections that have not authenticated yet, in total and per address.

Each connection needs memory and a key exchange before the client proves anything. One address gets a share, so that it
cannot keep others out; beyond a number of connections a growing part of new ones is dropped at random, as OpenSSH does
with ``MaxStartups``, so that a flood from many addresses does not keep everyone out either.
"""

import secrets
from collections import Counter
from collections.abc import Hashable

from ingot.core.http.client_networks import client_network

MAX_PER_ADDRESS = 64
"""Connections of one IPv4 address or one IPv6 network of 64 bits; a client is here for a fraction of a second."""
DROP_START = 100
"""Number of connections from which on new ones are dropped at random."""
DROP_PERCENT = 30
"""Part of the new connections that is dropped then; it grows linearly up to all of them."""
DROP_ALL = 250


class ConnectionLimits:
    """Connections that have not authenticated yet."""

    def __init__(self) -> None:
        self._addresses: dict[Hashable, str] = {}
        self._counts: Counter[str] = Counter()
        self.dropped = 0
        """Number of refused connections."""

    def __len__(self) -> int:
        return len(self._addresses)

    def admit(self, connection: Hashable, address: str) -> bool:
        """Count a new connection; return False if it exceeds a limit and has to be closed."""
        network = client_network(address)
        refused = self._counts[network] >= MAX_PER_ADDRESS
        if refused or secrets.randbelow(100) < drop_percentage(len(self)):
            self.dropped += 1
            return False
        self._addresses[connection] = network
        self._counts[network] += 1
        return True

    def release(self, connection: Hashable) -> None:
        """Stop counting a connection that is authenticated or closed."""
        network = self._addresses.pop(connection, None)
        if network is not None:
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]


def drop_percentage(connections: int) -> int:
    """Return the percentage of new connections to drop while this number is unauthenticated."""
    if connections < DROP_START:
        return 0
    if connections >= DROP_ALL:
        return 100
    return DROP_PERCENT + (100 - DROP_PERCENT) * (connections - DROP_START) // (DROP_ALL - DROP_START)
