"""PostgreSQL at a distance, behind a connection pooler, and at one of several addresses."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ingot.core.db.announcements import EVERYTHING, announce
from ingot.core.db.postgresql import PostgresqlEngine
from tests.connection_pooler import connection_pooler
from tests.free_ports import closed_port
from tests.postgresql_proxy import PostgresqlProxy
from tests.server.conftest import database_name
from tests.server.in_process_server import InProcessServer, first_settings, serve_in_process
from tests.server.process import Server, fresh_database, until

CALLS = 8


@pytest.fixture
def database(data_folder: Path, database_url: str, initialized_instance: Server, request: pytest.FixtureRequest) -> str:
    """The URL of a database whose instance is in ``data_folder``."""
    if not database_url:
        pytest.skip("SQLite has no server.")
    shutil.copytree(initialized_instance.data, data_folder)
    return fresh_database(database_url, database_name(request), template="initialized")


def _engine(inside: InProcessServer) -> PostgresqlEngine:
    engine = inside.database.engine
    assert isinstance(engine, PostgresqlEngine)
    return engine


def _use(inside: InProcessServer) -> None:
    """Read and write with several clients at once."""
    project = inside.call("POST", "/projects", json={"name": "p"}).json()["id"]

    def work(number: int) -> list[int]:
        issues = f"/projects/{project}/issues"
        created = inside.call("POST", issues, json={"title": f"issue {number}"})
        answers = [created, *(inside.call("GET", path) for path in ("/user", f"/projects/{project}", issues) * 3)]
        return [answer.status_code for answer in answers]

    with ThreadPoolExecutor(CALLS) as pool:
        assert {tuple(statuses) for statuses in pool.map(work, range(CALLS))} == {(201, *[200] * 9)}
    assert len(inside.call("GET", f"/projects/{project}/issues").json()) == CALLS
    assert inside.client.get("/-/readiness").status_code == 200


def test_reads_of_a_distant_server_do_not_wait_for_each_other(data_folder: Path, database: str) -> None:
    proxy = PostgresqlProxy(database)
    try:
        proxy.delay = 0.005
        with serve_in_process(first_settings(data_folder, proxy.url)) as inside:
            _use(inside)
            assert _engine(inside).is_remote
            proxy.most_in_flight = 0
            with ThreadPoolExecutor(CALLS) as pool:
                list(pool.map(lambda _: inside.call("GET", "/user"), range(CALLS * 3)))
            assert proxy.most_in_flight > 2
    finally:
        proxy.close()


def test_the_writable_one_of_several_addresses_is_used(data_folder: Path, database: str) -> None:
    """Migrations connect to it as well."""
    parts = conninfo_to_dict(database)
    proxy = PostgresqlProxy(database)
    address = proxy.url.partition("@")[2].partition("/")[0]
    target = f"{parts['dbname']}?target_session_attrs=read-write"
    try:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        with closed_port() as port:
            url = f"postgresql://{parts['user']}@127.0.0.1:{port},{address}/{target}"
            with serve_in_process(first_settings(data_folder, url)) as inside:
                _use(inside)
    finally:
        proxy.close()


@pytest.mark.parametrize("direct", [True, False])
def test_a_pooler_in_transaction_mode(data_folder: Path, database: str, direct: bool) -> None:
    """Without the URL of the server itself, changes are found by polling."""
    proxy = PostgresqlProxy(database)
    try:
        with connection_pooler(proxy) as url:
            settings = replace(first_settings(data_folder, url), database_direct_url=database if direct else "")
            with serve_in_process(settings) as inside:
                _use(inside)
                _check_notifications(inside, direct)
    finally:
        proxy.close()


def _check_notifications(inside: InProcessServer, direct: bool) -> None:
    engine = _engine(inside)
    assert engine.has_sessions is direct
    listener = engine.listen()
    try:
        assert listener.wait(0, []) == [EVERYTHING]
        while listener.wait(0, []):
            pass
        inside.database.write(lambda db: announce(db, "issue:1"))
        assert listener.wait(60, []) == (["issue:1"] if direct else [EVERYTHING])
    finally:
        listener.close()
    watch = engine.watch("pooled role")
    assert engine.is_served("pooled role")
    watch.close()
    until("the end of the role", lambda: not engine.is_served("pooled role"))
