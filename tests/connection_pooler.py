"""PgBouncer in transaction mode in front of a PostgreSQL server."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.free_ports import free_port
from tests.postgresql_proxy import PostgresqlProxy
from tests.server.process import until

POOLER = "INGOT_TEST_POOLER"
"""Variable that names the pooler through which the shared server connects; empty for none."""
_POOL_CONNECTIONS = 6
"""Fewer than the threads of a server, so that connections change hands."""
_NOBODY = 65534


@contextmanager
def connection_pooler(proxy: PostgresqlProxy, connections: int = _POOL_CONNECTIONS) -> Iterator[str]:
    """Run PgBouncer in front of a server, whose proxy gives it an address that any user can reach; yield its URL."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed.")
    parts = conninfo_to_dict(proxy.url)
    port = free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as configuration:
        configuration.write(
            f"[databases]\npooled = host=127.0.0.1 port={parts['port']} user={parts['user']} dbname={parts['dbname']}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = transaction\n"
            f"default_pool_size = {connections}\nmax_client_conn = 500\nserver_round_robin = 1\n"
            "unix_socket_dir =\n"
        )
        configuration.flush()
        Path(configuration.name).chmod(0o644)
        command = [program, "-q", configuration.name]
        if os.getuid() == 0:  # It refuses to run as root.
            command = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", *command]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            url = f"postgresql://{parts['user']}@127.0.0.1:{port}/pooled"
            until("the pooler", lambda: _answers(url, process))
            yield url
        finally:
            process.terminate()
            process.communicate()


def _answers(url: str, process: "subprocess.Popen[bytes]") -> bool:
    assert process.poll() is None, process.communicate()[1]
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def pooled_if_chosen(url: str) -> Iterator[str]:
    """Yield the URL of a pooler in front of a PostgreSQL server, or the same URL if the test run uses none."""
    if not url or not os.environ.get(POOLER):
        yield url
        return
    assert os.environ[POOLER] == "pgbouncer", f"{POOLER} must be pgbouncer"
    proxy = PostgresqlProxy(url)
    try:
        with connection_pooler(proxy) as pooled:
            yield pooled
    finally:
        proxy.close()
