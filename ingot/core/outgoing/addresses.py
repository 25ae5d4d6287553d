"""Classification of IP addresses as public or private, for the SSRF guard."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Listed here, because the standard library's notion of a global address changed between its versions.
_NOT_PUBLIC = tuple(
    ip_network(text)
    for text in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
    2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20
    """.split()  # noqa: SIM905 - A list of networks is easier to read this way.
)
# All other IPv6 addresses are local, have a special use, or embed an IPv4 address (mapped, NAT64).
_PUBLIC_IPV6 = ip_network("2000::/3")

# Metadata services of clouds, which hand out credentials, and addresses of no single machine. Allowing local requests
# does not allow these; an operator can list them explicitly.
_NEVER_LOCAL = tuple(
    ip_network(text)
    for text in """
    0.0.0.0/8 169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 224.0.0.0/4 240.0.0.0/4
    ::/128 fe80::/10 fd00:ec2::/32 ff00::/8 64:ff9b::/96 64:ff9b:1::/48 2002::/16 2001::/32
    """.split()  # noqa: SIM905 - A list of networks is easier to read this way.
)


def parse_address(text: str) -> Address | None:
    """Parse an address as resolvers write it, without its zone; return None for anything else."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Return whether the address is reachable from the whole internet."""
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return False
    return not is_in_networks(address, _NOT_PUBLIC)


def is_permitted(address: Address, *, allow_local: bool, allowed: Sequence[Network]) -> bool:
    """Return whether requests to the address are permitted."""
    if is_in_networks(address, allowed) or is_public(address):
        return True
    embedded = getattr(address, "ipv4_mapped", None) or address
    return allow_local and not is_in_networks(embedded, _NEVER_LOCAL)


def is_in_networks(address: Address, networks: Sequence[Network]) -> bool:
    """Return whether the address is in one of the networks."""
    return any(address.version == network.version and address in network for network in networks)
