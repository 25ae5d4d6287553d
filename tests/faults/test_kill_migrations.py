"""Kill -9 while all scripts of this version run; each script has run whole or not at all."""

import os
import random
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path

from ingot.core.migrations.run import SCRIPTS, migrate, newest_revision
from ingot.core.settings import Settings
from ingot.server.startup import make_data_directory
from tests import fork_server
from tests.server.process import environment, ingot, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
REVISIONS = sorted(path.stem.split("_")[0] for path in SCRIPTS.glob("[0-9]*.py"))


def _schema(data: Path) -> tuple[str, set[tuple[str, str]]]:
    """Return the revision of a database, with the names and definitions of its tables and indexes."""
    connection = sqlite3.connect(data / "ingot.db", timeout=60)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    finally:
        connection.close()
    return revision, set(rows)


def _at_revision(folder: Path, revision: str) -> Path:
    """Create a database by the scripts; an empty one would get the newest schema from a file."""
    make_data_directory(folder)
    for reached in (REVISIONS[0], revision):
        migrate(Settings(data=folder), reached)
    return folder


def test_scripts_are_killed(tmp_path: Path) -> None:
    """Right after a random revision was reached, so in the middle of the next script; then the rest runs."""
    dice = random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    newest = _schema(_at_revision(tmp_path / "newest", newest_revision()))
    for number in range(ROUNDS):
        data = _at_revision(tmp_path / f"round-{number}", REVISIONS[0])
        with (tmp_path / "output").open("ab") as output:
            process = fork_server.start(
                "ingot",
                *("migrate", "--data", str(data)),
                stdout=output.fileno(),
                stderr=output.fileno(),
                env=environment(),
                new_session=True,
            )
            reached = dice.choice(REVISIONS[1:-1])
            until("a revision", lambda data=data, reached=reached: _schema(data)[0] >= reached)  # type: ignore[misc]
            with suppress(ProcessLookupError):  # It may have been faster than the test.
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(60)
        revision, schema = _schema(data)
        expected = _schema(_at_revision(tmp_path / f"expected-{number}", revision))
        assert (revision, schema) == expected, f"the schema is exactly that of revision {revision}"
        finished = ingot("migrate", "--data", data)
        assert finished.returncode == 0, finished.stderr
        assert _schema(data) == newest
        assert ingot("doctor", "--data", data).stdout == "No problems found.\n"
