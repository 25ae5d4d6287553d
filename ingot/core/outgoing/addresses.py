"""Which addresses on the internet are anybody's, and which are ours, our neighbours' or nobody's."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Written out, because what the standard library calls global changed between its versions.
_NOT_PUBLIC = tuple(
    ip_network(text)
    for text in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
    2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20
    """.split()  # noqa: SIM905 - A list of networks reads better so.
)
# All other IPv6 addresses are local, of some special use, or carry an IPv4 address in disguise (mapped, NAT64).
_PUBLIC_IPV6 = ip_network("2000::/3")

# Where clouds tell a machine its own credentials, and what stands for no single machine: whoever allows local
# requests hardly means these, and can still name them.
_NEVER_ALLOWED_AS_LOCAL = tuple(
    ip_network(text)
    for text in """
    0.0.0.0/8 169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 224.0.0.0/4 240.0.0.0/4
    ::/128 fe80::/10 fd00:ec2::/32 ff00::/8 64:ff9b::/96 64:ff9b:1::/48 2002::/16 2001::/32
    """.split()  # noqa: SIM905 - A list of networks reads better so.
)


def parse_address(text: str) -> Address | None:
    """An address as resolvers write it, or nothing where it is none; one with a zone is nobody's but the link's."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach the same machine by this address."""
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return False
    return not _is_in_networks(address, _NOT_PUBLIC)


def is_permitted(address: Address, *, allow_local: bool, allowed: Sequence[Network]) -> bool:
    """Whether requests may go there."""
    if _is_in_networks(address, allowed) or is_public(address):
        return True
    real = getattr(address, "ipv4_mapped", None) or address
    return allow_local and not _is_in_networks(real, _NEVER_ALLOWED_AS_LOCAL)


def _is_in_networks(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
