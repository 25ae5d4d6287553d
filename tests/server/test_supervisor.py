"""Processes of a server: readiness, restarts and shutdown."""

import json
import os
import signal
import socket
from urllib.parse import urlsplit

import pytest

from tests.server.process import TOKEN, Server, is_alive, until


class SlowRequest:
    """Request that creates a user, but delays the second half of the body."""

    def __init__(self, server: Server, username: str) -> None:
        wanted = {"username": username, "name": username, "email": f"{username}@example.org"}
        self._body = json.dumps({**wanted, "force_random_password": True}).encode()
        parts = urlsplit(server.url)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        head = (
            f"POST /api/v4/users HTTP/1.1\r\nHost: {parts.netloc}\r\nPRIVATE-TOKEN: {TOKEN}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(self._body)}\r\nExpect: 100-continue\r\n\r\n"
        )
        self._socket.sendall(head.encode())
        # The server asks for the body only when the request has reached its handler.
        assert self._socket.recv(1024).startswith(b"HTTP/1.1 100")
        self._socket.sendall(self._body[:20])

    def finish(self) -> int:
        """Send the rest and return the status of the response."""
        self._socket.sendall(self._body[20:])
        answer = b""
        while b"\r\n" not in answer:
            received = self._socket.recv(1024)
            assert received, "the connection was closed without an answer"
            answer += received
        return int(answer.split()[1])

    def close(self) -> None:
        """Disconnect."""
        self._socket.close()


def test_readiness_reflects_the_job_worker(server: Server) -> None:
    supervisor = server.process.pid if server.process else 0
    # While it is stopped, the supervisor cannot start another worker.
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(server.child("jobs"), signal.SIGKILL)
    until("readiness to say that nobody works on jobs", lambda: server.ready() == 503)
    assert server.call("GET", "/user").status_code == 200
    os.kill(supervisor, signal.SIGCONT)
    until("readiness again", lambda: server.ready() == 200)
    assert [event["process"] for event in server.events("ended")] == ["jobs"]


def test_a_killed_web_worker_is_replaced(server: Server) -> None:
    first = server.child("web-0")
    os.kill(first, signal.SIGKILL)
    until("another worker", lambda: server.child("web-0") != first and server.ready() == 200)
    assert server.call("GET", "/user").status_code == 200
    (ended,) = server.events("ended")
    assert (ended["process"], ended["pid"], ended["code"]) == ("web-0", first, -9)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_lets_requests_finish(server: Server, number: int) -> None:
    request = SlowRequest(server, "late")
    try:
        assert server.process is not None
        server.process.send_signal(number)
        until("the job worker's end", lambda: not is_alive(server.child("jobs")))
        assert is_alive(server.child("web-0"))
        assert request.finish() == 201
        assert server.process.wait(60) == 0
    finally:
        request.close()
    assert not any(map(is_alive, server.children()))
    server.start()
    assert [user["username"] for user in server.call("GET", "/users?username=late").json()] == ["late"]


def test_an_endless_request_does_not_delay_shutdown(server: Server) -> None:
    request = SlowRequest(server, "never")
    try:
        assert server.stop() == 0
    finally:
        request.close()
    server.start()
    assert server.call("GET", "/users?username=never").json() == []


def test_an_interrupt_at_a_terminal_is_handled_once(server: Server) -> None:
    """A terminal sends SIGINT to every process of the group, and only the supervisor may act on it."""
    request = SlowRequest(server, "interrupted")
    try:
        assert server.process is not None
        os.killpg(server.process.pid, signal.SIGINT)
        until("the job worker's end", lambda: not is_alive(server.child("jobs")))
        assert request.finish() == 201
        assert server.process.wait(60) == 0
    finally:
        request.close()


def test_children_exit_when_the_supervisor_is_killed(server: Server) -> None:
    children = server.children()
    assert len(children) == 3 and all(map(is_alive, children))
    assert server.process is not None
    server.process.kill()
    server.process.wait(60)
    until("the children's end", lambda: not any(map(is_alive, children)))
    server.start()
    assert server.ready() == 200
