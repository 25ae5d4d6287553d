"""Listening sockets of the commands that serve."""

import sys
from socket import socket

from ingot.core.settings import Settings
from ingot.server.sockets import SiteSockets
from ingot.server.supervisor import open_socket


def listen(host: str, port: int) -> socket:
    """Open a listening socket; exit if the address is in use."""
    try:
        return open_socket(host, port)
    except OSError as error:
        sys.exit(f"ingot: cannot listen on {host}:{port}: {error.strerror}")


def listen_for_sites(settings: Settings) -> SiteSockets:
    """Open the sockets of static sites that the settings name."""
    ports = (settings.pages_port, settings.pages_https_port)
    return SiteSockets(*(listen(settings.host, port) if port >= 0 else None for port in ports))
