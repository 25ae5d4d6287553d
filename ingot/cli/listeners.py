"""Listening sockets of the commands that serve."""

import sys
from socket import socket

from ingot.server.supervisor import open_socket


def listen(host: str, port: int) -> socket:
    """Open a listening socket; exit if the address is in use."""
    try:
        return open_socket(host, port)
    except OSError as error:
        sys.exit(f"ingot: cannot listen on {host}:{port}: {error.strerror}")
