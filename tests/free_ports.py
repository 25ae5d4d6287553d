"""Ports for servers of other programs, which cannot listen on a socket that the test has opened, and closed ports."""

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FIRST = 10_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_DEFAULT_END = 32_768


def free_port() -> int:
    """Return a port that is free on loopback."""
    return free_ports(1)[0]


def free_ports(count: int, offset: int = 0) -> list[int]:
    """Return ports that are free on loopback, as are those at a distance from them.

    The system gives ports of another range to each process that asks for any port. One of those could be taken by
    another test between this call and the start of the program.
    """
    end = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else _DEFAULT_END
    taken: set[int] = set()
    ports: list[int] = []
    while len(ports) < count:
        port = random.SystemRandom().randrange(_FIRST, end - offset)
        wanted = {port, port + offset}
        if not wanted & taken and all(map(_is_free, wanted)):
            ports.append(port)
            taken |= wanted
    return ports


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port that refuses connections; it stays bound, so that no server of another test gets it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
