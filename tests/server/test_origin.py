"""Request targets and Host headers: ``OPTIONS *``, repeated headers, and links that do not follow the client."""

import socket
from pathlib import Path

import httpx

from ingot.core.settings import Settings
from tests.conftest import Instance
from tests.server.in_process_server import serve_in_process
from tests.server.process import PASSWORD, TOKEN


def _exchange(instance: Instance, request: bytes) -> bytes:
    """Send a request as it is, and return the whole response."""
    url = httpx.URL(instance.url)
    with socket.create_connection((url.host, url.port), timeout=60) as connection:
        connection.sendall(request)
        response = b""
        while data := connection.recv(65536):
            response += data
    return response


def test_options_of_the_server(instance: Instance) -> None:
    response = _exchange(instance, b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert response.startswith(b"HTTP/1.1 204 ")
    assert b"\r\nallow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n" in response


def test_targets_that_are_no_paths(instance: Instance) -> None:
    for line in (b"GET *", b"POST *", b"DELETE *", b"CONNECT x:443", b"GET x:443", b"GET ?a=b", b"GET http://x"):
        response = _exchange(instance, line + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert response.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 404 ")), (line, response)
        assert b'{"message":' in response.replace(b": ", b":"), line


def test_missing_and_repeated_host_headers(instance: Instance) -> None:
    for headers in (
        b"",
        b"Host:\r\n",
        b"Host: x\r\nHost: y\r\n",
        b"Host: x\r\nHost: x\r\n",
        b"Host: x\r\nAccept: y\r\nhOST: x\r\n",
    ):
        request = b"GET /api/v4/version HTTP/1.1\r\n" + headers + b"Connection: close\r\n\r\n"
        response = _exchange(instance, request)
        assert response.startswith(b"HTTP/1.1 400 ")
        assert b'{"message":"400 (Bad request) the Host header is missing, malformed or repeated"}' in response
    old = _exchange(instance, b"GET /api/v4/version HTTP/1.0\r\n\r\n")
    assert b" 401 " in old.partition(b"\r\n")[0], "HTTP/1.0 has no Host header."
    repeated = b"GET / HTTP/1.1\r\nHost: x\r\nAccept: a\r\nAccept: b\r\nConnection: close\r\n\r\n"
    assert not _exchange(instance, repeated).startswith(b"HTTP/1.1 400 ")


def test_links_begin_with_the_external_url(tmp_path: Path, empty_database: str) -> None:
    settings = Settings(
        data=tmp_path / "data",
        database_url=empty_database,
        root_token=TOKEN,
        root_password=PASSWORD,
        external_url="https://git.example.org/",
        trusted_proxies="127.0.0.1",
    )
    claimed = {"PRIVATE-TOKEN": TOKEN, "Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    with serve_in_process(settings) as server:
        for page in ("", "&pagination=keyset&order_by=id"):
            listed = server.client.get(f"/api/v4/users?per_page=1{page}", headers=claimed)
            assert listed.status_code == 200
            urls = [link["url"] for link in listed.links.values()]
            assert urls and all(url.startswith("https://git.example.org/api/v4/users?") for url in urls)
            assert "evil" not in str(listed.headers) + listed.text
