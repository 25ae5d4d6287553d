"""HTTP requests of the runner, one connection each."""

import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

_TIMEOUT_SECONDS = 60.0
_RETRY_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
_TEMPORARY = frozenset({408, 429, 500, 502, 503, 504, 507})
_MAX_RETRY_AFTER_SECONDS = 60.0


class NoResponse(Exception):
    """The server gave no response."""


class Reply(msgspec.Struct, frozen=True):
    """Response of the server."""

    status: int
    headers: Mapping[str, str]
    """Names are in lower case."""
    body: bytes = b""

    @property
    def temporary_failure(self) -> bool:
        """Return whether the same request may succeed later."""
        return self.status in _TEMPORARY


class ServerConnection:
    """Connection for one request; another thread may abort it."""

    def __init__(self, url: str, timeout: float = _TIMEOUT_SECONDS) -> None:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        self._http: http.client.HTTPConnection
        if parts.scheme == "https":
            self._http = http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())
        else:
            self._http = http.client.HTTPConnection(host, port, timeout=timeout)
        self._prefix = parts.path.rstrip("/")
        self._aborted = False

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | Iterable[bytes] | None) -> None:
        """Send a request; a body of several pieces is sent in chunks."""
        chunked = not isinstance(body, bytes | None)
        fields = {**headers, **({"Transfer-Encoding": "chunked"} if chunked else {})}
        self._http.connect()
        if self._aborted:  # Before there was a socket that could be shut down.
            raise ConnectionAbortedError
        try:
            self._http.request(method, self._prefix + path, body, fields, encode_chunked=chunked)
        except (BrokenPipeError, ConnectionResetError):
            if not chunked:
                raise
            # The server may have refused the upload before its end; then the response is there to be read.

    def response(self) -> http.client.HTTPResponse:
        """Return the response; its body has not been read."""
        return self._http.getresponse()

    def abort(self) -> None:
        """End the request from another thread."""
        self._aborted = True
        connected: socket.socket | None = self._http.sock
        if connected is not None:
            with suppress(OSError):  # It may have ended by itself.
                connected.shutdown(socket.SHUT_RDWR)

    @property
    def aborted(self) -> bool:
        """Return whether another thread ended the request."""
        return self._aborted

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def exchange(
    connection: ServerConnection,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | Iterable[bytes] | None = None,
) -> Reply:
    """Send a request and read the whole response; raise NoResponse if there is none."""
    try:
        connection.send(method, path, headers, body)
        response = connection.response()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, fields, response.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoResponse(f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()


def exchange_with_retries(
    url: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
) -> Reply:
    """Send a request again while the server is not reachable or asks for patience; raise NoResponse at last."""
    for pause in _RETRY_PAUSES:
        try:
            reply = exchange(ServerConnection(url), method, path, headers, body)
        except NoResponse:
            time.sleep(pause)
            continue
        if not reply.temporary_failure:
            return reply
        time.sleep(retry_after(reply, pause))
    return exchange(ServerConnection(url), method, path, headers, body)


def retry_after(reply: Reply, default: float) -> float:
    """Return the seconds after which the server wants to see the request again."""
    try:
        return min(max(0.0, float(reply.headers["retry-after"])), _MAX_RETRY_AFTER_SECONDS)
    except (KeyError, ValueError):
        return default


def json_body(value: Any) -> bytes:
    """Encode the body of a request."""
    return json.dumps(value).encode()
