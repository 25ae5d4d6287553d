"""Faults of the connection to PostgreSQL: cut, stalled, or lost during a commit."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from ingot.core.db import postgresql
from tests.postgresql_proxy import CommitFault, PostgresqlProxy
from tests.server.conftest import database_name
from tests.server.in_process_server import InProcessServer, first_settings, serve_in_process
from tests.server.process import Server, fresh_database, until

CALLS = 24


SESSION = {"Cookie": "_service_session=x"}


@pytest.fixture
def database(data_folder: Path, database_url: str, initialized_instance: Server, request: pytest.FixtureRequest) -> str:
    """The URL of a database whose instance is in ``data_folder``."""
    if not database_url:
        pytest.skip("SQLite has no connections that can be lost.")
    shutil.copytree(initialized_instance.data, data_folder)
    return fresh_database(database_url, database_name(request), template="initialized")


@pytest.fixture
def proxy(database: str) -> Iterator[PostgresqlProxy]:
    """A proxy in front of the database."""
    proxy = PostgresqlProxy(database)
    yield proxy
    proxy.close()


@pytest.fixture
def inside(data_folder: Path, proxy: PostgresqlProxy) -> Iterator[InProcessServer]:
    """A server whose connections pass through the proxy."""
    with serve_in_process(first_settings(data_folder, proxy.url)) as inside:
        yield inside


def _project(inside: InProcessServer) -> int:
    number: int = inside.call("POST", "/projects", json={"name": "p"}).json()["id"]
    return number


@pytest.mark.parametrize("fault", CommitFault)
def test_a_connection_lost_during_the_commit_creates_one_issue(
    inside: InProcessServer, proxy: PostgresqlProxy, fault: CommitFault
) -> None:
    project = _project(inside)
    proxy.cut()  # Statements of new connections are not prepared yet, so that the proxy recognizes them.
    proxy.commit_fault = fault
    created = inside.call("POST", f"/projects/{project}/issues", json={"title": "once"})
    assert proxy.commit_fault is None, "The fault has happened."
    assert created.status_code == 201
    issues = inside.call("GET", f"/projects/{project}/issues").json()
    assert [issue["id"] for issue in issues] == [created.json()["id"]]


def test_a_commit_with_an_unknown_outcome_is_reported_and_not_repeated(
    inside: InProcessServer, proxy: PostgresqlProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "OUTCOME_SECONDS", 0.2)
    project = _project(inside)
    proxy.cut()
    proxy.commit_fault, proxy.refuses_after_fault = CommitFault.RESPONSE_LOST, True
    created = inside.call("POST", f"/projects/{project}/issues", json={"title": "perhaps"})
    assert created.status_code == 503
    assert "may have been made" in created.json()["message"]
    assert int(created.headers["retry-after"]) > 0
    proxy.refuses = False
    issues = inside.call("GET", f"/projects/{project}/issues").json()
    assert [issue["title"] for issue in issues] == ["perhaps"]


def test_a_stalled_server_makes_calls_fail_soon_and_nothing_else(
    inside: InProcessServer, proxy: PostgresqlProxy
) -> None:
    """No call waits longer than the client here; the limits of the server are a fraction of that."""
    project = _project(inside)
    inside.client.timeout = httpx.Timeout(10)
    with proxy.held(), ThreadPoolExecutor(CALLS) as pool:
        unready = inside.client.get("/-/readiness")
        assert (unready.status_code, int(unready.headers["retry-after"]) > 0) == (503, True)
        reads = [pool.submit(inside.call, "GET", f"/projects/{project}/issues") for _ in range(CALLS // 2)]
        writes = [
            pool.submit(inside.call, "POST", f"/projects/{project}/issues", json={"title": f"late {number}"})
            for number in range(CALLS // 2)
        ]
        page = pool.submit(inside.client.get, "/users/sign_in", headers=SESSION)
        for answer in [call.result() for call in (*reads, *writes, page)]:
            assert answer.status_code == 503, (answer.url, answer.text)
            assert int(answer.headers["retry-after"]) > 0
        for path in ("/-/liveness", "/-/metrics", "/assets/ingot.css", "/favicon.ico"):
            assert inside.client.get(path, headers=SESSION).status_code == 200, path
        assert inside.client.get("/-/readiness").status_code == 503
    until("readiness", lambda: inside.client.get("/-/readiness").status_code == 200)
    created = inside.call("POST", f"/projects/{project}/issues", json={"title": "again"})
    assert created.status_code == 201
    issues = inside.call("GET", f"/projects/{project}/issues").json()
    assert [issue["title"] for issue in issues] == ["again"]


def test_a_long_statement_is_not_taken_for_a_stall(inside: InProcessServer) -> None:
    """The server answers other connections meanwhile."""
    seconds = 3  # Longer than the time after which the monitor probes the server.

    def sleep() -> object:
        raw = inside.database.engine.connect(read_only=True)
        try:
            return raw.execute("SELECT 1 FROM pg_sleep(%s)", (seconds,)).fetchone()
        finally:
            raw.close()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(sleep).result() == (1,)
    assert inside.client.get("/-/readiness").status_code == 200


def test_readiness_recovers_by_itself_after_all_connections_were_lost(
    data_folder: Path, proxy: PostgresqlProxy, database: str
) -> None:
    server = Server(data_folder, proxy.url)
    try:
        server.start()
        with psycopg.connect(database, autocommit=True) as connection:
            # The shared instance of the tests has connections to another database of this server.
            mine = "FROM pg_stat_activity WHERE application_name = 'ingot' AND datname = current_database()"
            pids = [row[0] for row in connection.execute(f"SELECT pid {mine}")]
            backends = f"SELECT count(*) {mine} AND pid = ANY(%s)"
            assert pids
            proxy.cut()
            until("the end of the connections", lambda: connection.execute(backends, (pids,)).fetchone() == (0,))
        until("readiness", lambda: server.ready() == 200)
        assert server.call("GET", "/user").status_code == 200
    finally:
        server.kill()
