"""SIGTERM: the server is no longer ready, serves on for a moment, and loses no request that reached it."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.server.process import TOKEN, Server, until
from tests.transport.conftest import BASE


def terminate(server: Server) -> None:
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)


def is_stopping(server: Server) -> bool:
    """Return whether the web worker has noticed the signal; another process of the node may have stopped before."""
    try:
        state = httpx.get(f"{server.url}/-/readiness", timeout=30)
    except httpx.TransportError:
        return False
    return state.status_code == 503 and state.json().get("server_check") == [{"status": "stopping"}]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=BASE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("workers", [1, 2])
def test_a_push_between_its_two_requests_succeeds(server: Server, tmp_path: Path, workers: int) -> None:
    """git runs the hook when it has the refs of the server and before it sends its pack."""
    if workers > 1:
        server.stop()
        server.start("--workers", workers)
    project = server.call("POST", "/projects", json={"name": "pushed"}).json()
    url = f"{server.url}/{project['path_with_namespace']}.git".replace("://", f"://root:{TOKEN}@")
    git(tmp_path, "init", "-q", "-b", "master", "work")
    work = tmp_path / "work"
    git(work, "commit", "-q", "--allow-empty", "-m", "One")
    hook = work / ".git" / "hooks" / "pre-push"
    assert server.process is not None
    ask = f"import urllib.request; urllib.request.urlopen('{server.url}/-/readiness')"
    hook.write_text(
        f"#!/bin/sh\nkill -TERM {server.process.pid}\n"
        f'until {sys.executable} -c "{ask}" 2>&1 | grep -q -e 503 -e refused; do :; done\n'
    )
    hook.chmod(stat.S_IRWXU)
    git(work, "push", "-q", url, "master")
    assert server.process.wait(60) == 0
    server.start()
    (branch,) = server.call("GET", f"/projects/{project['id']}/repository/branches").json()
    assert branch["commit"]["id"] == git(work, "rev-parse", "HEAD").strip()


@pytest.fixture
def lingering(initialized: Server) -> Server:
    """Return a running server that serves for a few seconds after SIGTERM."""
    initialized.module = "tests.server.lingering"
    return initialized.start()


def test_an_open_connection_is_served_once_more_and_then_closed(lingering: Server) -> None:
    server = lingering
    with httpx.Client(base_url=server.url, headers={"PRIVATE-TOKEN": TOKEN}, timeout=60) as client:
        assert "connection" not in client.get("/api/v4/user").headers
        terminate(server)
        until("the signal to be noticed", lambda: is_stopping(server))
        created = client.post("/api/v4/projects", json={"name": "late"})
        assert (created.status_code, created.headers["connection"]) == (201, "close")
    assert server.process is not None
    assert server.process.wait(60) == 0
    server.start()
    assert server.call("GET", "/projects/root%2Flate").status_code == 200


def test_readiness_fails_before_the_server_stops(lingering: Server) -> None:
    server = lingering
    terminate(server)
    until("the signal to be noticed", lambda: is_stopping(server))
    assert httpx.get(f"{server.url}/-/readiness").json()["status"] == "failed"
    assert httpx.get(f"{server.url}/-/liveness").status_code in (200, 503)
    assert server.call("GET", "/user").status_code == 200, "It still serves."
    until("the end", lambda: server.events("stopped"))
    assert "Traceback" not in server.log()


def test_a_large_push_that_has_tried_its_credentials_is_expected(initialized: Server) -> None:
    """git sends an empty request before a large one; the server accepts connections only for what is expected."""
    initialized.module = "tests.server.lingering"
    server = initialized.start(LINGER_SECONDS="0")
    project = server.call("POST", "/projects", json={"name": "large"}).json()
    url, kind = f"{server.url}/{project['path_with_namespace']}.git", "application/x-git-receive-pack-request"

    def post() -> int:
        return httpx.post(
            f"{url}/git-receive-pack", auth=("root", TOKEN), content=b"0000", headers={"Content-Type": kind}
        ).status_code

    assert httpx.get(f"{url}/info/refs?service=git-receive-pack", auth=("root", TOKEN)).status_code == 200
    terminate(server)
    until("the signal to be noticed", lambda: is_stopping(server))
    assert post() == 200
    assert all(is_stopping(server) for _ in range(10)), "It still accepts connections."
    assert post() == 200


def test_no_write_that_was_sent_is_left_without_a_response(server: Server) -> None:
    """Each request comes on a new connection, which is refused or gets its response."""
    project = server.call("POST", "/projects", json={"name": "busy"}).json()
    parts = urlsplit(server.url)
    outcomes: list[str] = []

    def post() -> None:
        body = b'{"title":"One more"}'
        head = (
            f"POST /api/v4/projects/{project['id']}/issues HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"PRIVATE-TOKEN: {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        while True:
            try:
                connection = socket.create_connection((parts.hostname, parts.port), timeout=60)
            except ConnectionRefusedError:
                return
            with connection:
                try:
                    connection.sendall(head.encode() + body)
                    outcomes.append(connection.recv(12).decode())
                except OSError as error:
                    outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=post) for _ in range(4)]
    for thread in threads:
        thread.start()
    until("some writes", lambda: len(outcomes) > 20)
    terminate(server)
    for thread in threads:
        thread.join(60)
    assert set(outcomes) == {"HTTP/1.1 201"}
    assert server.process is not None
    assert server.process.wait(60) == 0
    server.start()
    counted = server.call("GET", f"/projects/{project['id']}/issues?per_page=1").headers["x-total"]
    assert int(counted) == len(outcomes)


def test_an_idle_connection_does_not_hold_up_the_end(server: Server) -> None:
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        assert server.stop() == 0
        assert connection.recv(1) == b""


def test_the_port_is_free_when_the_supervisor_was_killed(server: Server) -> None:
    """Its children do not linger then, because another server is started at once."""
    port = urlsplit(server.url).port
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait(60)
    server.start("--port", port)
    assert server.ready() == 200
