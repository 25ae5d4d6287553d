"""Database locked by another process for longer than the timeout."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingot.core.db import engines
from ingot.core.settings import Settings
from tests.server.in_process_server import InProcessServer, first_settings, serve_in_process

HOLD_FILE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""
HOLD_QUEUE = """
import sys
from pathlib import Path
from ingot.core.db.write_queue import WriteQueue
WriteQueue(Path(sys.argv[1])).enter(60)
print("held", flush=True)
sys.stdin.read()
"""
HOLD_TABLES = """
import psycopg, sys
with psycopg.connect(sys.argv[1]) as connection:
    connection.execute("LOCK TABLE users, access_tokens, namespaces IN SHARE MODE")
    print("held", flush=True)
    sys.stdin.read()
"""
WANTED = {"username": "late", "name": "Late", "email": "late@example.org", "force_random_password": True}


@contextmanager
def _held(settings: Settings, of_file: str = HOLD_FILE) -> Iterator[None]:
    """Hold the write lock in another process."""
    program = [of_file, str(settings.data / "ingot.db")] if settings.embedded else [HOLD_TABLES, settings.database]
    holder = subprocess.Popen(
        [sys.executable, "-c", *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        try:
            assert holder.stdout is not None and holder.stdout.readline() == "held\n"
            yield
        finally:
            holder.kill()


@pytest.fixture
def wait() -> float:
    """Lock timeout of the server."""
    return 1.0


@pytest.fixture
def inside(
    data_folder: Path, empty_database: str, wait: float, monkeypatch: pytest.MonkeyPatch
) -> Iterator[InProcessServer]:
    """Yield a server with a lock timeout of one second, unless a test sets another."""
    monkeypatch.setattr(engines, "LOCK_WAIT_SECONDS", wait)
    with serve_in_process(first_settings(data_folder, empty_database)) as inside:
        yield inside


def _create(inside: InProcessServer, **more: Any) -> Any:
    return inside.call("POST", "/users", json={**WANTED, **more})


def test_writes_wait_and_then_get_503(inside: InProcessServer) -> None:
    with _held(inside.settings), ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_create, inside)
        while not writing.done():
            assert inside.call("GET", "/user").status_code == 200
        answer = writing.result()
        assert answer.status_code == 503
        assert answer.json() == {"message": "503 Service Unavailable"}
        assert int(answer.headers["retry-after"]) > 0
        assert inside.client.get("/-/readiness").status_code == 200
    # Nothing was stored, so the same call works now.
    assert inside.call("GET", "/users?username=late").json() == []
    assert inside.call("GET", "/namespaces?search=late").json() == []
    assert _create(inside).status_code == 201


@pytest.mark.parametrize("wait", [60.0])
def test_a_short_lock_is_waited_for_and_reads_continue(inside: InProcessServer) -> None:
    with ThreadPoolExecutor(1) as pool:
        with _held(inside.settings):
            writing = pool.submit(_create, inside)
            for _ in range(20):
                assert inside.call("GET", "/user").status_code == 200
            assert not writing.done()
        assert writing.result().status_code == 201


def test_pages_report_it_too(inside: InProcessServer) -> None:
    """Signing in writes a session."""
    form = inside.client.get("/users/sign_in").text
    token = form.partition('name="authenticity_token" value="')[2].partition('"')[0]
    assert token
    sent = {"user[login]": "root", "user[password]": inside.settings.root_password, "authenticity_token": token}
    with _held(inside.settings):
        if not inside.settings.embedded:
            pytest.skip("Sessions are in a table that is not held here.")
        answer = inside.client.post("/users/sign_in", data=sent)
        assert answer.status_code == 503
        assert "Try again in a moment" in answer.text
    assert inside.client.post("/users/sign_in", data=sent).status_code == 302


@pytest.mark.parametrize("wait", [60.0])
def test_writes_take_turns_with_those_of_other_processes(inside: InProcessServer) -> None:
    """SQLite's own lock is free meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        with _held(inside.settings, HOLD_QUEUE):
            writing = pool.submit(_create, inside)
            for _ in range(20):
                assert inside.call("GET", "/user").status_code == 200
            assert not writing.done()
        assert writing.result().status_code == 201


def test_wait_for_the_write_lock_ends_with_503(inside: InProcessServer) -> None:
    with _held(inside.settings, HOLD_QUEUE):
        answer = _create(inside)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
    assert _create(inside).status_code == 201
