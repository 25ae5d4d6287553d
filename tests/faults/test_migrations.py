"""Migrations: kill -9 during a migration, a newer schema, and concurrent migrations."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.core.migrations.run import SCRIPTS, newest_revision
from tests import fork_server
from tests.faults.newer_version import SCRIPTS_VARIABLE
from tests.server.process import Server, environment, ingot, serving, until

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


class Migration:
    """Running migration, and its output."""

    def __init__(self, module: str, output: Path, *options: str, **more: str) -> None:
        self._output = output
        with output.open("wb") as file:
            streams = {"stdout": file.fileno(), "stderr": file.fileno()}
            self._process = fork_server.start(
                module, "migrate", *options, **streams, env=environment(**more), new_session=True
            )

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(60)

    def finish(self) -> str:
        """Wait for its success, and return its output."""
        status = self._process.wait(60)
        assert status == 0, self._output.read_text()
        return self._output.read_text()


class NewerVersion:
    """Runner of commands of the newer version on one instance."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "9000_add_later_table.py").write_text(SCRIPT.format(before=newest_revision()))
        self._options = _options(server)
        self._started: list[Migration] = []

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

    def migrate(self) -> Migration:
        """Start a migration."""
        output, scripts = self.folder / f"output-{len(self._started)}", {SCRIPTS_VARIABLE: str(self.folder)}
        self._started.append(Migration("tests.faults.newer_version", output, *self._options, **scripts))
        return self._started[-1]

    def clean_up(self) -> None:
        """Kill remaining processes."""
        for migration in self._started:
            migration.kill()


def _options(server: Server) -> list[str]:
    return ["--data", str(server.data), *(["--database-url", server.database_url] if server.database_url else [])]


@pytest.fixture
def newer(server: Server, tmp_path: Path) -> Iterator[NewerVersion]:
    """Yield a newer version, and an instance of the current one with a user, which is stopped."""
    sent = {"username": "kept", "name": "Kept", "email": "kept@example.org", "force_random_password": True}
    assert server.call("POST", "/users", json=sent).status_code == 201
    assert server.stop() == 0
    newer = NewerVersion(tmp_path / "versions", server)
    yield newer
    newer.clean_up()


def test_a_killed_migration_starts_over(newer: NewerVersion, server: Server) -> None:
    newer.pause_in_the_middle()
    killed = newer.migrate()
    until("the middle of the migration", lambda: newer.times_reached() == 1)
    killed.kill()

    # The migration left nothing, so the old version can still serve.
    assert ingot("doctor", *_options(server)).stdout == "No problems found.\n"
    with serving(server.data, server.database_url) as old:
        assert len(old.call("GET", "/users?username=kept").json()) == 1
        assert old.stop() == 0

    newer.resume()
    assert "The database is at revision 9000." in newer.migrate().finish()
    assert newer.times_reached() == 2
    assert "The database is at revision 9000." in newer.migrate().finish()
    assert newer.times_reached() == 2


def test_a_killed_first_start_starts_over(stopped: Server, tmp_path: Path) -> None:
    """No tables of the first migration exist, and root must still get a password."""
    newer = NewerVersion(tmp_path / "versions", stopped)
    newer.pause_in_the_middle()
    try:
        killed = newer.migrate()
        until("the middle of the migration", lambda: newer.times_reached() == 1)
        killed.kill()
        newer.resume()
        assert "Sign in as root with the password" in newer.migrate().finish()
    finally:
        newer.clean_up()


def test_concurrent_migrations_run_once(newer: NewerVersion) -> None:
    newer.pause_in_the_middle()
    first = newer.migrate()
    until("the middle of the migration", lambda: newer.times_reached() == 1)
    second = newer.migrate()
    newer.resume()
    assert "The database is at revision 9000." in first.finish()
    assert "The database is at revision 9000." in second.finish()
    assert newer.times_reached() == 1


def test_concurrent_first_starts_create_one_instance(stopped: Server, tmp_path: Path) -> None:
    options = _options(stopped)
    both = [Migration("ingot", tmp_path / f"output-{number}", *options) for number in range(2)]
    outputs = [migration.finish() for migration in both]
    assert sum("Sign in as root" in output for output in outputs) == 1
    assert ingot("doctor", *options).stdout == "No problems found.\n"


def test_a_newer_schema_is_rejected(newer: NewerVersion, server: Server) -> None:
    if server.database_url:
        pytest.skip("With PostgreSQL, a node of the previous version serves it (tests/server/test_rolling_upgrade.py).")
    newer.migrate().finish()
    options = _options(server)
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
    backup = ingot("backup", server.data.parent / "backup.tar.gz", *options)
    assert backup.returncode == 1 and "Write the backup with the version that runs the server" in backup.stderr
