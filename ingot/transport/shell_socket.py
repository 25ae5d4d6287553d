"""Unix socket between the server and the commands ``ingot shell`` and ``ingot authorized-keys``, which OpenSSH runs.

Only the standard library is imported here, because these commands run for every connection and have to start fast.
"""

import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LENGTH_BYTES = 4
MAX_REQUEST_BYTES = 2**20
CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 0.1
_CHUNK_BYTES = 65536


class ServerUnavailable(Exception):
    """The server does not run, or ended before it replied."""


def socket_path(data: Path) -> Path:
    """Return the path of the socket; each machine has its own, as the data directory may be a shared volume."""
    return data / "run" / f"shell-{os.uname().nodename}.sock"


def call_server(
    data: Path, request: dict[str, Any], descriptors: Sequence[int] = (), *, inheritable: bool = False
) -> dict[str, Any]:
    """Send a request with descriptors and return the reply; wait for a server that is just being restarted.

    An ``inheritable`` connection stays open until this process ends, also if it replaces itself by another program.
    """
    body = json.dumps(request).encode()
    message = len(body).to_bytes(LENGTH_BYTES, "big") + body
    with _connect(socket_path(data)) as connection:
        try:
            sent = socket.send_fds(connection, [message], descriptors)
            if sent < len(message):  # To send nothing would fail, as the server may have replied and closed.
                connection.sendall(message[sent:])
            reply = b"".join(iter(lambda: connection.recv(_CHUNK_BYTES), b""))
        except OSError as error:
            raise ServerUnavailable from error
        if inheritable:
            os.set_inheritable(connection.detach(), True)
    if not reply:
        raise ServerUnavailable
    parsed: dict[str, Any] = json.loads(reply)
    return parsed


def _connect(path: Path) -> socket.socket:
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except OSError as error:
            connection.close()
            if time.monotonic() > deadline or not isinstance(error, FileNotFoundError | ConnectionRefusedError):
                raise ServerUnavailable from error
            time.sleep(_RETRY_SECONDS)
        else:
            return connection
