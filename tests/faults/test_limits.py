"""Resource limits: too few file descriptors, and a log that cannot be written."""

import os
import socket
import subprocess
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest

from tests.server.process import INGOT, ROOT, TOKEN, Server, environment, until

CONNECTIONS = 300


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: {TOKEN}\r\n\r\n".encode()


def _status(connection: socket.socket) -> int:
    """Return the status of the next response, which is read completely."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def test_more_connections_than_descriptors(stopped: Server) -> None:
    """Established connections stay; after the others are closed, all requests work."""
    stopped.start_by_interpreter(nofile=256)
    parts = urlsplit(stopped.url)
    held: list[socket.socket] = []
    try:
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((parts.hostname, parts.port), timeout=60)
            held.append(connection)
        for connection in held:
            try:
                connection.sendall(_request("/api/v4/user"))
            except OSError:  # A connection that the server could not accept.
                pass
        # A request that needs another descriptor gets 503.
        assert _status(held[0]) in (200, 503)
        held[0].sendall(_request("/api/v4/version"))
        assert _status(held[0]) == 200
    finally:
        for connection in held:
            connection.close()
    until("an answer after the crowd left", lambda: stopped.ready() == 200)
    assert stopped.call("GET", "/user").status_code == 200
    sent = {"username": "after", "name": "After", "email": "after@example.org", "force_random_password": True}
    assert stopped.call("POST", "/users", json=sent).status_code == 201
    assert stopped.events("ended") == []
    assert all(event["status"] != 500 for event in stopped.events("request"))
    assert stopped.stop() == 0


@pytest.mark.parametrize("log", ["full disk", "broken pipe"])
def test_a_log_that_cannot_be_written_stops_nothing(stopped: Server, log: str) -> None:
    options = ["--data", str(stopped.data), "--port", "0", "--workers", "1"]
    options += ["--database-url", stopped.database_url] if stopped.database_url else []
    if log == "full disk":
        writing = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, writing = os.pipe()
        os.close(reading)
    stopped.process = subprocess.Popen(
        [*INGOT, "serve", *options],
        stdout=writing,
        stderr=writing,
        env=environment(INGOT_ROOT_TOKEN=TOKEN, INGOT_ROOT_PASSWORD="a password"),
        cwd=ROOT,
        start_new_session=True,
    )
    os.close(writing)
    stopped.wait_until_ready()
    for _ in range(5):
        assert stopped.call("GET", "/user").status_code == 200
    assert stopped.stop() == 0
