"""A PostgreSQL server that hangs: all its processes are stopped, and continue later."""

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
import psycopg
import pytest

from tests.server.process import TOKEN, Server, until

IS_SOAK = "INGOT_SOAK_ROUNDS" in os.environ
STALLS = [0, 20, 200] if IS_SOAK else [0]
"""Seconds for which the server hangs after all answers are in."""
WRITERS = 8
MAX_SECONDS = 5.0 if IS_SOAK else 15.0
"""Limit of a response; a busy machine may need longer than is promised."""
LIVENESS_SECONDS = 1.0
RECOVERY_SECONDS = 2.0


class Answer(NamedTuple):
    """Response to a request."""

    sent_at: float
    received_at: float
    status: int
    """0 without a response in time."""


class Caller:
    """Thread that sends one request again and again, and records the answers."""

    def __init__(self, server: Server, method: str, path: str) -> None:
        self.path = path
        self._server, self._method = server, method
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.answers: list[Answer] = []

    def __enter__(self) -> "Caller":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with httpx.Client(timeout=MAX_SECONDS, headers={"PRIVATE-TOKEN": TOKEN}) as client:
            while not self._stop.wait(0.05):
                sent_at, status = time.monotonic(), 0
                with suppress(httpx.TransportError):
                    status = client.request(self._method, self._server.url + self.path).status_code
                self.answers.append(Answer(sent_at, time.monotonic(), status))

    def statuses(self, since: float) -> list[int]:
        """Return the statuses of the responses after a moment."""
        return [answer.status for answer in list(self.answers) if answer.received_at > since]

    def has_answered(self, status: int, since: float = 0.0, times: int = 1) -> bool:
        """Return whether requests that were sent after a moment got this status."""
        found = [answer.status for answer in list(self.answers) if answer.sent_at > since]
        return found.count(status) >= times


def _processes(database_url: str) -> list[int]:
    """Return the processes of a PostgreSQL server, the main one first, which then starts no others."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    main = int(Path(row[0], "postmaster.pid").read_text().splitlines()[0])
    return [main, *map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())]


@contextmanager
def _stopped(database_url: str) -> Iterator[float]:
    """Stop a PostgreSQL server for the duration of a block; yield the time."""
    processes = _processes(database_url)
    try:
        _signal(processes, signal.SIGSTOP)
        yield time.monotonic()
    finally:
        _signal(processes, signal.SIGCONT)


def _signal(processes: list[int], number: int) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):  # It may have ended.
            os.kill(pid, number)


@pytest.mark.parametrize("seconds", STALLS)
@pytest.mark.parametrize("second_address", ["silent", "closed"])
def test_a_hanging_server_is_reported_soon_and_recovers(
    initialized: Server, tmp_path: Path, second_address: str, seconds: int
) -> None:
    """The URL names two addresses; liveness depends on neither, and a busy project is served again soon."""
    if not initialized.database_url:
        pytest.skip("SQLite has no server.")
    database_url = initialized.database_url
    other = r"\1" if second_address == "silent" else str(tmp_path)
    initialized.database_url = re.sub(r"host=([^&,]+)", rf"host=\1,{other}", database_url)
    server = initialized.start()
    project: int = server.call("POST", "/projects", json={"name": "busy"}).json()["id"]
    issues = f"/api/v4/projects/{project}/issues"
    liveness, missing, *others = (
        Caller(server, "GET", path) for path in ("/-/liveness", "/-/nothing", "/-/readiness", issues, "/api/v4/user")
    )
    writers = [Caller(server, "POST", f"{issues}?title=Issue") for _ in range(WRITERS)]
    with ExitStack() as stack:
        for caller in (liveness, missing, *others, *writers):
            stack.enter_context(caller)
        for writer in writers:
            until("load", partial(writer.has_answered, 201))
        with _stopped(database_url) as stopped_at:
            for caller in others:
                until(f"503 of {caller.path}", partial(caller.has_answered, 503, stopped_at))
            until("liveness", partial(liveness.has_answered, 200, stopped_at))
            until("503 of a missing page", partial(missing.has_answered, 503, stopped_at))
            threading.Event().wait(seconds)
        continued_at = time.monotonic()
        for caller in others:
            until(f"200 of {caller.path}", partial(caller.has_answered, 200, continued_at))
        for writer in writers:
            until("recovery", partial(writer.has_answered, 201, continued_at, times=3))
    assert set(liveness.statuses(stopped_at)) == {200}
    assert set(missing.statuses(stopped_at)) <= {404, 503}
    for caller in others:
        assert set(caller.statuses(stopped_at)) == {200, 503}, caller.path
    failed = [each.received_at for writer in writers for each in writer.answers if each.status != 201]
    if IS_SOAK:
        assert max(each.received_at - each.sent_at for each in liveness.answers) < LIVENESS_SECONDS
        assert max(failed) - continued_at < RECOVERY_SECONDS
