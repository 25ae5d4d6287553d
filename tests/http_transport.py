"""Sends the small requests of tests by the standard library, which takes a quarter of the time.

What is large or comes piece by piece goes the usual way, as an answer may come before all of it is sent.
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

MOST_BYTES = 65_536


@cache
def _usual_context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """What is trusted where these two say what that is."""
    return httpx.create_ssl_context()


def share_certificates() -> None:
    """Let all clients share what they trust: to read it for each one takes longer than most of the calls."""

    def context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is True and cert is None and trust_env:
            return _usual_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        return httpx.create_ssl_context(verify, cert, trust_env)

    pytest.MonkeyPatch().setattr(default, "create_ssl_context", context)


class StdlibTransport(httpx.BaseTransport):
    """Connections to one server that are kept and used again, by any thread, one request at a time."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = httpx.URL(url)
        self._timeout = timeout
        self._idle: list[http.client.HTTPConnection] = []

    @cached_property
    def _usual(self) -> httpx.HTTPTransport:
        return httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and read the whole answer."""
        # A target of its own is one that attackers write.
        if not isinstance(request.stream, httpx.ByteStream) or "target" in request.extensions:
            return self._usual.handle_request(request)
        body = b"".join(request.stream)
        if len(body) > MOST_BYTES:
            return self._usual.handle_request(request)
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
            # A server that has closed it meanwhile made it readable.
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        return http.client.HTTPConnection(self._url.host, self._url.port, timeout=self._timeout)

    def close(self) -> None:
        """Close what is kept."""
        for connection in self._idle:
            connection.close()
        if "_usual" in self.__dict__:
            self._usual.close()


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
