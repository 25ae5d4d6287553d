"""Networks that count as one client wherever something is divided among addresses."""

from ipaddress import IPv6Address, IPv6Network, ip_address

_IPV6_PREFIX_BITS = 64


def client_network(address: str) -> str:
    """Return what an address counts as: itself or, for IPv6, its network of 64 bits, which one client may own."""
    if ":" not in address:
        return address
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # Not an internet address, such as a Unix socket.
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, _IPV6_PREFIX_BITS), strict=False))
