"""Reads on standbys of PostgreSQL, which are as current as those of the primary while standbys lag, fail or change."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import func, select, text

from ingot.core.db import replicas
from ingot.core.db.replicas import ReplicaEngine
from ingot.maintenance.doctor.replicas import check_replicas
from ingot.server.app import open_database
from tests.postgresql_proxy import PostgresqlProxy
from tests.postgresql_standby import Standby, replicated_server
from tests.server.in_process_server import InProcessServer, first_settings, serve_in_process
from tests.server.process import until

WRITES = 102
"""With four reads each: 408."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[tuple[str, Standby]]:
    """Yield the URL of a primary, and its standby."""
    if not database_url:
        pytest.skip("SQLite has no standby.")
    with replicated_server(tmp_path_factory.mktemp("replicated")) as (primary, standby):
        yield primary, standby


@pytest.fixture(scope="module")
def standby(servers: tuple[str, Standby]) -> Standby:
    """Return the standby."""
    return servers[1]


@pytest.fixture(scope="module")
def proxy(standby: Standby) -> Iterator[PostgresqlProxy]:
    """Yield the connections between Ingot and the standby."""
    proxy = PostgresqlProxy(standby.url)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def nodes(
    servers: tuple[str, Standby], proxy: PostgresqlProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[InProcessServer, InProcessServer]]:
    """Yield two nodes that use the standby."""
    settings = first_settings(tmp_path_factory.mktemp("nodes") / "data", servers[0])
    settings = replace(settings, database_replica_urls=proxy.url)
    with serve_in_process(settings) as first, serve_in_process(settings) as second:
        yield first, second


@pytest.fixture(autouse=True)
def short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return to a standby soon after an error."""
    monkeypatch.setattr(replicas, "RETRY_SECONDS", 0.1)


@pytest.fixture
def node(nodes: tuple[InProcessServer, InProcessServer]) -> InProcessServer:
    """Return a node whose next reads are served by the standby."""
    until("the standby serves reads", lambda: _reads_replica(nodes[0]))
    return nodes[0]


def _outcomes(node: InProcessServer) -> Any:
    assert node.database.replicas is not None
    return node.database.replicas.outcomes


def _reads_replica(node: InProcessServer) -> bool:
    before = _outcomes(node)["read"]
    assert node.call("GET", "/user").status_code == 200
    return bool(_outcomes(node)["read"] > before)


def _project(node: InProcessServer, name: str) -> dict[str, Any]:
    made = node.call("POST", "/projects", json={"name": name})
    assert made.status_code == 201, made.text
    project: dict[str, Any] = made.json()
    return project


def test_each_node_reads_the_writes_of_the_other(nodes: tuple[InProcessServer, InProcessServer]) -> None:
    """The standby applies the log a little later, but no read misses an acknowledged write."""
    path = f"/projects/{_project(nodes[0], 'shared')['id']}"

    def write_and_read(number: int) -> list[bool]:
        writer, reader = nodes if number % 2 else nodes[::-1]
        sent = {"title": f"issue {number}", "labels": f"label-{number}"}
        iid = writer.call("POST", f"{path}/issues", json=sent).json()["iid"]
        found = reader.call("GET", f"{path}/issues/{iid}").json()
        listed = reader.call("GET", f"{path}/issues", params={"labels": sent["labels"]}).json()
        put = writer.call("PUT", f"{path}/issues/{iid}", json={"title": f"changed {number}"})
        assert put.status_code == 200, put.text
        changed = reader.call("GET", f"{path}/issues/{iid}").json()
        writer.call("DELETE", f"{path}/issues/{iid}")
        deleted = reader.call("GET", f"{path}/issues/{iid}")
        return [
            found.get("title") == sent["title"],
            [each["iid"] for each in listed] == [iid],
            changed.get("title") == f"changed {number}",
            deleted.status_code == 404,
        ]

    with ThreadPoolExecutor(4) as pool:
        checks = [check for results in pool.map(write_and_read, range(WRITES)) for check in results]
    assert checks == [True] * 4 * WRITES
    assert all(_outcomes(node)["read"] for node in nodes)


def test_a_standby_that_lags_serves_nothing(node: InProcessServer, standby: Standby) -> None:
    path = f"/projects/{_project(node, 'lagging')['id']}"
    assert node.call("GET", path).json()["name"] == "lagging"
    standby.query("SELECT pg_wal_replay_pause()")
    try:
        until("replay is paused", lambda: standby.query("SELECT pg_get_wal_replay_pause_state()") == "paused")
        node.call("PUT", path, json={"name": "renamed"})
        before = _outcomes(node)["behind"]
        assert node.call("GET", path).json()["name"] == "renamed"
        assert _outcomes(node)["behind"] > before
        assert not _reads_replica(node)
    finally:
        standby.query("SELECT pg_wal_replay_resume()")
    until("the standby serves reads", lambda: _reads_replica(node))
    assert node.call("GET", path).json()["name"] == "renamed"


def test_a_long_transaction_invalidates_caches_when_it_commits(
    node: InProcessServer, servers: tuple[str, Standby]
) -> None:
    """Snapshots of a standby do not tell that it was still running when newer ones were seen."""
    project = _project(node, "long")
    path = f"/projects/{project['id']}"
    with psycopg.connect(servers[0]) as slow:
        slow.execute("UPDATE projects SET description = 'late' WHERE id = %s", (project["id"],))
        for number in range(3):
            _project(node, f"meanwhile {number}")
            until("the standby serves reads", lambda: _reads_replica(node))
            assert not node.call("GET", path).json()["description"]
        slow.commit()
    until("the standby serves reads", lambda: _reads_replica(node))
    assert node.call("GET", path).json()["description"] == "late"


def test_reads_survive_lost_connections_to_a_standby(node: InProcessServer, proxy: PostgresqlProxy) -> None:
    proxy.refuses = True
    try:
        proxy.cut()
        assert {node.call("GET", "/projects").status_code for _ in range(3)} == {200}
        assert _outcomes(node)["unavailable"]
        assert node.client.get("/-/readiness").status_code == 200
    finally:
        proxy.refuses = False
    until("the standby serves reads", lambda: _reads_replica(node))


def test_reads_leave_a_standby_that_is_stalled(node: InProcessServer, proxy: PostgresqlProxy) -> None:
    with proxy.held():
        assert {node.call("GET", "/projects").status_code for _ in range(3)} == {200}
    until("the standby serves reads", lambda: _reads_replica(node))


def test_metrics_count_the_reads(node: InProcessServer) -> None:
    assert 'ingot_replica_reads_total{outcome="read"}' in node.client.get("/-/metrics").text


def test_the_doctor_checks_standbys(node: InProcessServer, servers: tuple[str, Standby], database_url: str) -> None:
    primary = servers[0]
    assert not list(check_replicas(node.settings, node.database))
    refused, malformed = (
        "postgresql://ingot:secret@127.0.0.1:9/ingot",
        "postgresql://ingot:%zzconnection@127.0.0.1/ingot",
    )
    wrong = replace(node.settings, database_replica_urls=f"{primary} {database_url} {refused} {malformed}")
    itself, unrelated, silent, invalid = (finding.text for finding in check_replicas(wrong, node.database))
    assert invalid == "The replica 127.0.0.1/ingot is not used: ProgrammingError"
    assert "it is not a standby" in itself
    assert "it has another database" in unrelated
    assert silent.startswith("The replica 127.0.0.1:9/ingot is not used: connection failed")
    assert "secret" not in silent


def test_servers_that_are_not_standbys_serve_nothing(
    servers: tuple[str, Standby], database_url: str, tmp_path: Path, nodes: tuple[InProcessServer, InProcessServer]
) -> None:
    """The primary itself, and another server; both answer, and one has other data."""
    shutil.copytree(nodes[0].settings.data, tmp_path / "data")
    settings = replace(nodes[0].settings, data=tmp_path / "data", database_replica_urls=f"{servers[0]} {database_url}")
    with serve_in_process(settings) as node:
        for _ in range(3):
            assert node.call("GET", "/projects").status_code == 200
        until("they are known", lambda: node.call("GET", "/user") and _outcomes(node)["foreign"])
        assert _outcomes(node)["read"] == 0


def test_another_database_of_a_standby_serves_nothing(
    nodes: tuple[InProcessServer, InProcessServer], servers: tuple[str, Standby]
) -> None:
    """An old copy of the database, on the right server."""
    primary, standby = servers
    with psycopg.connect(primary, autocommit=True) as connection:
        connection.execute("CREATE DATABASE copied")
    until("the copy", lambda: standby.query("SELECT count(*) FROM pg_database WHERE datname = 'copied'"))
    copied = standby.url.replace("/postgres?", "/copied?")
    (finding,) = check_replicas(replace(nodes[0].settings, database_replica_urls=copied), nodes[0].database)
    assert "it has another database" in finding.text
    with serve_in_process(replace(nodes[0].settings, database_replica_urls=copied)) as node:
        until("it is known", lambda: node.call("GET", "/user") and _outcomes(node)["foreign"])
        assert _outcomes(node)["read"] == 0


def test_a_role_without_rights_reads_from_the_primary(node: InProcessServer, servers: tuple[str, Standby]) -> None:
    with psycopg.connect(servers[0], autocommit=True) as connection:
        connection.execute("CREATE ROLE ordinary LOGIN")
        connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO ordinary")
        connection.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    settings = replace(node.settings, database_url=servers[0].replace("postgres:@", "ordinary@"))
    database = open_database(settings, uses_replicas=True)
    try:
        assert database.read(lambda db: db.value(select(func.current_user()))) == "ordinary"
        (finding,) = check_replicas(settings, database)
        assert "does not tell its position (permission denied" in finding.text
    finally:
        database.close()
        with psycopg.connect(servers[0], autocommit=True) as connection:
            connection.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")


def test_a_read_that_a_standby_cannot_finish_is_left_to_the_primary(
    node: InProcessServer, servers: tuple[str, Standby], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replay has taken a lock on the table, and stops before it is released; the read runs in a thread."""
    primary, standby = servers
    monkeypatch.setattr(ReplicaEngine, "is_remote", True)
    monkeypatch.setattr(ReplicaEngine, "max_statement_seconds", 0.5)
    with serve_in_process(node.settings) as other, psycopg.connect(primary) as changing:
        until("the standby serves reads", lambda: _reads_replica(other))
        changing.execute("LOCK TABLE labels IN ACCESS EXCLUSIVE MODE")
        changing.execute("SELECT pg_switch_wal()")
        locked = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'labels'::regclass"
        until("the standby has the lock", lambda: standby.query(locked))
        standby.query("SELECT pg_wal_replay_pause()")
        try:
            until("replay is paused", lambda: standby.query("SELECT pg_get_wal_replay_pause_state()") == "paused")
            changing.rollback()
            assert other.database.read(lambda db: db.rows(text("SELECT count(*) FROM labels")))
            assert other.call("GET", "/projects").status_code == 200
        finally:
            standby.query("SELECT pg_wal_replay_resume()")


def test_a_promotion_separates_the_histories(tmp_path: Path, database_url: str) -> None:
    """Neither the promoted standby nor, for nodes that use it, a standby of the old primary serves reads."""
    if not database_url:
        pytest.skip("SQLite has no standby.")
    with replicated_server(tmp_path, copies=2) as (primary, promoted, other):
        settings = replace(first_settings(tmp_path / "data", primary), database_replica_urls=promoted.url)
        with serve_in_process(settings) as node:
            until("the standby serves reads", lambda: _reads_replica(node))
            promoted.promote()
            _project(node, "after the promotion")
            until("the other standby is ahead", lambda: other.query("SELECT count(*) FROM projects") == 1)
            before = _outcomes(node)["read"]
            assert len(node.call("GET", "/projects").json()) == 1
            assert _outcomes(node)["read"] == before
        settings = replace(settings, database_url=promoted.url, database_replica_urls=other.url)
        with serve_in_process(settings) as node:
            assert node.call("GET", "/projects").json() == []
            assert _outcomes(node)["read"] == 0
