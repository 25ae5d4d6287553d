"""HTTP transport for small requests by the standard library, in a quarter of the time.

Large and streamed requests use httpx, because a response may arrive before all of it is sent.
"""

import http.client
import os
import select
import ssl
from functools import cache, cached_property
from typing import Any

import httpx
import pytest
from httpx._transports import default

MAX_BYTES = 65_536


@cache
def _default_context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Return the default TLS context for these settings."""
    return httpx.create_ssl_context()


def share_certificates() -> None:
    """Share one TLS context between all clients, because loading it takes longer than most calls."""

    def context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is True and cert is None and trust_env:
            return _default_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        return httpx.create_ssl_context(verify, cert, trust_env)

    pytest.MonkeyPatch().setattr(default, "create_ssl_context", context)


class StdlibTransport(httpx.BaseTransport):
    """Pool of connections to one server, used by any thread, one request at a time."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = httpx.URL(url)
        self._timeout = timeout
        self._idle: list[http.client.HTTPConnection] = []

    @cached_property
    def _fallback(self) -> httpx.HTTPTransport:
        return httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the whole response."""
        # A raw target is one of an attack.
        if not isinstance(request.stream, httpx.ByteStream) or "target" in request.extensions:
            return self._fallback.handle_request(request)
        body = b"".join(request.stream)
        if len(body) > MAX_BYTES:
            return self._fallback.handle_request(request)
        connection = self._connection()
        try:
            answer = _sent(connection, request, body)
        except TimeoutError as error:
            connection.close()
            raise httpx.ReadTimeout(str(error), request=request) from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise httpx.RemoteProtocolError(str(error), request=request) from error
        if connection.sock is not None:
            self._idle.append(connection)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            # A readable idle connection was closed by the server.
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        return http.client.HTTPConnection(self._url.host, self._url.port, timeout=self._timeout)

    def close(self) -> None:
        """Close the pool."""
        for connection in self._idle:
            connection.close()
        if "_fallback" in self.__dict__:
            self._fallback.close()


def _sent(connection: http.client.HTTPConnection, request: httpx.Request, body: bytes) -> httpx.Response:
    target = request.url.raw_path.decode("ascii")
    connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers.raw:
        connection.putheader(name, value)
    connection.endheaders(body or None)
    answer = connection.getresponse()
    content = answer.read()
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    return httpx.Response(answer.status, headers=headers, stream=httpx.ByteStream(content), request=request)
