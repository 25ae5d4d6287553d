"""Processes of a server: readiness, restarts and shutdown."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
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


def processes_below(pid: int) -> list[int]:
    """The children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def highlight(server: Server) -> str:
    """Render code, in a process that the supervisor forks."""
    answer = server.call("POST", "/markdown", json={"text": "```python\nx = 1\n```"})
    assert answer.status_code == 201, answer.text
    html: str = answer.json()["html"]
    assert '<span class="mi">1</span>' in html
    return html


def test_code_is_rendered_in_processes_of_the_supervisor(server: Server) -> None:
    """They are replaced when they die, and neither the supervisor nor a worker ends with them."""
    assert server.process is not None
    for _ in range(3):
        highlight(server)
        helpers = set(processes_below(server.process.pid)) - set(server.children())
        assert helpers
        for helper in helpers:  # One that renders, and at the start those that run maintenance, which may have ended.
            with suppress(ProcessLookupError):
                os.kill(helper, signal.SIGKILL)
            until("its end", partial(_has_ended, helper))
    assert server.events("ended") == []
    highlight(server)
    assert server.stop() == 0
    until("the end of all helpers", lambda: not processes_named(server))


def _has_ended(pid: int) -> bool:
    return not is_alive(pid)


def processes_named(server: Server) -> list[str]:
    """The processes that still use the files of an instance."""
    found = []
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if opened.readlink().is_relative_to(server.data):
                found.append(opened.parts[2])
        except OSError:
            continue
    return found


def test_jobs_in_a_process_of_their_own(stopped: Server) -> None:
    stopped.start(INGOT_SEPARATE_JOBS="1")
    assert sorted(event["process"] for event in stopped.events("started")) == ["jobs", "ssh", "web-0"]
    os.kill(stopped.child("jobs"), signal.SIGKILL)
    until("another process", lambda: len(stopped.events("started")) == 4 and stopped.ready() == 200)
    assert stopped.stop() == 0


def test_readiness_reflects_the_job_worker(server: Server) -> None:
    supervisor = server.process.pid if server.process else 0
    # While it is stopped, the supervisor cannot start another worker.
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(server.child("ssh+jobs"), signal.SIGKILL)
    until("readiness to say that nobody works on jobs", lambda: server.ready() == 503)
    assert server.call("GET", "/user").status_code == 200
    os.kill(supervisor, signal.SIGCONT)
    until("readiness again", lambda: server.ready() == 200)
    assert [event["process"] for event in server.events("ended")] == ["ssh+jobs"]


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
        until("the job worker's end", lambda: not is_alive(server.child("ssh+jobs")))
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
        until("the job worker's end", lambda: not is_alive(server.child("ssh+jobs")))
        assert request.finish() == 201
        assert server.process.wait(60) == 0
    finally:
        request.close()


def test_children_exit_when_the_supervisor_is_killed(server: Server) -> None:
    assert server.process is not None
    highlight(server)
    children = processes_below(server.process.pid)
    assert set(server.children()) < set(children), "There is also a rendering process."
    server.process.kill()
    server.process.wait(60)
    until("the children's end", lambda: not any(map(is_alive, children)))
    server.start()
    assert server.ready() == 200


EARLY_STOP = """
import io, os, signal
from ingot.core.log import Log
from ingot.server.supervisor import SupervisedProcess, Supervisor
supervisor = Supervisor([SupervisedProcess("child", lambda _: print("started"))], Log("json", io.StringIO()), [])
supervisor.handle_signals()
os.kill(os.getpid(), signal.SIGTERM)
supervisor.run()
print("stopped")
"""


def test_a_stop_signal_before_the_first_child_is_not_lost() -> None:
    """A program that reads the line ``serving`` may stop the server at once, and expects a regular exit status."""
    done = subprocess.run([sys.executable, "-c", EARLY_STOP], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr
