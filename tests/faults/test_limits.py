"""Resource limits: too few file descriptors, and a log that cannot be written."""

import os
import resource
import socket
import subprocess
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.server.process import INGOT, ROOT, TOKEN, Server, environment, until

CONNECTIONS = 300


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: {TOKEN}\r\n\r\n".encode()


def _response(connection: socket.socket) -> HTTPResponse:
    """Return the next response, which is read to its end."""
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return response


def test_more_connections_than_descriptors(stopped: Server) -> None:
    """Every caller gets a response: the first as usual, the others a 503; afterwards all is as before."""
    stopped.start_by_interpreter(nofile=256)
    parts = urlsplit(stopped.url)
    connections: list[socket.socket] = []
    try:
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((parts.hostname, parts.port), timeout=60)
            connections.append(connection)
            connection.sendall(_request("/api/v4/user"))
        responses = [_response(connection) for connection in connections]
        refused = [response for response in responses if response.status != 200]
        assert len(refused) < CONNECTIONS / 2
        assert {response.status for response in refused} == {503}
        assert all(int(response.headers["retry-after"]) > 0 for response in refused)
        assert responses[0].status == 200
        connections[0].sendall(_request("/api/v4/version"))
        assert _response(connections[0]).status == 200
    finally:
        for connection in connections:
            connection.close()
    until("readiness after the connections were closed", lambda: stopped.ready() == 200)
    assert stopped.call("GET", "/user").status_code == 200
    user = {"username": "after", "name": "After", "email": "after@example.org", "force_random_password": True}
    assert stopped.call("POST", "/users", json=user).status_code == 201
    assert stopped.events("ended") == []
    assert all(event["status"] != 500 for event in stopped.events("request"))
    assert stopped.stop() == 0


def test_requests_that_run_out_of_descriptors(stopped: Server) -> None:
    """Commits, uploads and clones that cannot open another file get a 503 and succeed later."""
    stopped.start_by_interpreter(nofile=256)
    project = stopped.call("POST", "/projects", json={"name": "crowded"}).json()["id"]
    files = f"/projects/{project}/repository/files"
    content = {"branch": "master", "commit_message": "x", "content": "x"}
    assert stopped.call("POST", f"{files}/first", json=content).status_code == 201
    worker = stopped.child("web-0")
    used = len(list(Path(f"/proc/{worker}/fd").iterdir()))
    limits = resource.prlimit(worker, resource.RLIMIT_NOFILE, (used + 1, 256))
    try:
        # This connection takes the last descriptor.
        with httpx.Client(base_url=f"{stopped.url}/api/v4", headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as client:
            for number, call in enumerate(
                (f"{files}/second", f"/projects/{project}/uploads", f"/projects/{project}/wikis")
            ):
                sent = (
                    {"files": {"file": ("x", b"x")}}
                    if "uploads" in call
                    else {"json": {**content, "title": f"{number}"}}
                )
                response = client.post(call, **sent)
                assert response.status_code in (201, 503), response.text
                assert response.status_code == 201 or "retry-after" in response.headers
            assert client.get(f"/projects/{project}/repository/tree").status_code in (200, 503)
    finally:
        resource.prlimit(worker, resource.RLIMIT_NOFILE, limits)
    assert stopped.call("POST", f"{files}/third", json=content).status_code == 201
    assert all(event["status"] != 500 for event in stopped.events("request"))


@pytest.mark.parametrize("log", ["full disk", "broken pipe"])
def test_a_log_that_cannot_be_written_stops_nothing(stopped: Server, log: str) -> None:
    options = ["--data", str(stopped.data), "--port", "0", "--ssh-port", "0", "--workers", "1"]
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
