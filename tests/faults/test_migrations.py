"""Migrations: kill -9 during a migration, a newer schema, and concurrent migrations."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.core.migrations.run import SCRIPTS, newest_revision
from tests.server.process import ROOT, Server, environment, ingot, serving, until

# The commands with a copy of the migrations that has one more: a newer version of Ingot.
NEWER_VERSION = """
import sys
from pathlib import Path
from ingot.core.migrations import run
run.SCRIPTS = Path(sys.argv[1])
sys.argv[1:] = sys.argv[2:]
from ingot.cli.main import main
main()
"""
SCRIPT = '''"""Adds a table, fills it, and stops in the middle for as long as it is told to."""

import time
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision, down_revision = "9000", "{before}"


def upgrade() -> None:
    here = Path(__file__).parent
    op.create_table("later_table", sa.Column("id", sa.Integer(), primary_key=True))
    op.execute("INSERT INTO later_table (id) VALUES (1)")
    with (here / "reached").open("a") as file:
        file.write("reached\\n")
    while (here / "wait").exists():
        time.sleep(0.01)
    op.execute("INSERT INTO later_table (id) VALUES (2)")
    op.add_column("broadcast_messages", sa.Column("later", sa.Text(), nullable=True))
'''


class NewerVersion:
    """Runner of commands of the newer version on one instance."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "9000_add_later_table.py").write_text(SCRIPT.format(before=newest_revision()))
        self._options = ["--data", str(server.data)]
        self._options += ["--database-url", server.database_url] if server.database_url else []
        self._started: list[subprocess.Popen[str]] = []

    def pause_in_the_middle(self) -> None:
        """Make the migration pause from now on."""
        (self.folder / "wait").touch()

    def resume(self) -> None:
        """Make it finish."""
        (self.folder / "wait").unlink()

    def times_reached(self) -> int:
        """Return how often the migration reached its middle."""
        try:
            return len((self.folder / "reached").read_text().splitlines())
        except FileNotFoundError:
            return 0

    def migrate(self) -> subprocess.Popen[str]:
        """Start a migration."""
        process = subprocess.Popen(
            [sys.executable, "-c", NEWER_VERSION, str(self.folder), "migrate", *self._options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(),
            cwd=ROOT,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def clean_up(self) -> None:
        """Kill remaining processes."""
        for process in self._started:
            _kill(process)


@pytest.fixture
def newer(stopped: Server, tmp_path: Path) -> Iterator[NewerVersion]:
    """Yield a newer version, and an instance of the current one with a user."""
    with serving(stopped.data, stopped.database_url) as server:
        sent = {"username": "kept", "name": "Kept", "email": "kept@example.org", "force_random_password": True}
        assert server.call("POST", "/users", json=sent).status_code == 201
        assert server.stop() == 0
    newer = NewerVersion(tmp_path / "versions", stopped)
    yield newer
    newer.clean_up()


def _kill(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    if process.stdout is not None:
        process.stdout.close()


def _finished(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    return output


def _tables(server: Server) -> str:
    """Return the tables that the current version sees."""
    options = ["--database-url", server.database_url] if server.database_url else []
    return ingot("doctor", "--data", server.data, *options).stdout


def test_a_killed_migration_starts_over(newer: NewerVersion, stopped: Server) -> None:
    newer.pause_in_the_middle()
    killed = newer.migrate()
    until("the middle of the migration", lambda: newer.times_reached() == 1)
    _kill(killed)

    # The migration left nothing, so the old version can still serve.
    assert _tables(stopped) == "No problems found.\n"
    with serving(stopped.data, stopped.database_url) as server:
        assert len(server.call("GET", "/users?username=kept").json()) == 1
        assert server.stop() == 0

    newer.resume()
    assert "The database is at revision 9000." in _finished(newer.migrate())
    assert newer.times_reached() == 2
    assert "The database is at revision 9000." in _finished(newer.migrate())
    assert newer.times_reached() == 2


def test_a_killed_first_start_starts_over(stopped: Server, tmp_path: Path) -> None:
    """No tables of the first migration exist, and root must still get a password."""
    newer = NewerVersion(tmp_path / "versions", stopped)
    newer.pause_in_the_middle()
    try:
        killed = newer.migrate()
        until("the middle of the migration", lambda: newer.times_reached() == 1)
        _kill(killed)
        newer.resume()
        assert "Sign in as root with the password" in _finished(newer.migrate())
    finally:
        newer.clean_up()


def test_concurrent_migrations_run_once(newer: NewerVersion) -> None:
    newer.pause_in_the_middle()
    first = newer.migrate()
    until("the middle of the migration", lambda: newer.times_reached() == 1)
    second = newer.migrate()
    newer.resume()
    assert "The database is at revision 9000." in _finished(first)
    assert "The database is at revision 9000." in _finished(second)
    assert newer.times_reached() == 1


def test_concurrent_first_starts_create_one_instance(data_folder: Path, empty_database: str) -> None:
    options = ["--data", str(data_folder), *(["--database-url", empty_database] if empty_database else [])]
    command = [sys.executable, "-m", "ingot", "migrate", *options]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment())
        for _ in range(2)
    ]
    outputs = [_finished(process) for process in both]
    assert sum("Sign in as root" in output for output in outputs) == 1
    assert ingot("doctor", *options).stdout == "No problems found.\n"


def test_a_newer_schema_is_rejected(newer: NewerVersion, stopped: Server) -> None:
    _finished(newer.migrate())
    options = ["--data", str(stopped.data)]
    options += ["--database-url", stopped.database_url] if stopped.database_url else []
    for command in (
        ["serve", "--port", "0", "--ssh-port", "0"],
        ["migrate"],
        ["jobs"],
        ["user", "admin", "kept"],
        ["demo"],
    ):
        refused = ingot(*command, *options)
        assert refused.returncode == 1
        assert refused.stderr == (
            f"ingot: The database is at revision 9000, newer than this version of Ingot knows ({newest_revision()}). "
            "Start the newer version again, or restore a backup made before the upgrade.\n"
        )
    backup = ingot("backup", stopped.data.parent / "backup.tar.gz", *options)
    assert backup.returncode == 1 and "Write the backup with the version that runs the server" in backup.stderr
