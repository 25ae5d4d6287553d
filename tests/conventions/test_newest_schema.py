"""The schema file of a first start compared with the result of all migrations."""

import sqlite3
import subprocess
import sys
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine

from ingot.core.db.schema import all_tables
from ingot.core.migrations.run import SCRIPTS, migrate
from ingot.core.migrations.schema_dump import migrated_database, schema_statements
from ingot.core.migrations.upgrade import alembic_config
from ingot.core.settings import Settings

LOADED = """
import sys
from pathlib import Path
from ingot.core.migrations.run import migrate
from ingot.core.settings import Settings
for _ in range(2):
    migrate(Settings(data=Path(sys.argv[1])))
assert not {"alembic", "sqlalchemy"} & sys.modules.keys()
"""


def _rows(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table."""
    tables = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'table'").fetchall()
    ours = [name for (name,) in tables if not name.startswith("sqlite_")]
    return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in ours}


def test_a_first_start_creates_the_schema_of_the_migrations(tmp_path: Path) -> None:
    """Tables, indexes, triggers, search tables and rows are identical; `make schema` regenerates the file."""
    for name in ("at_once", "by_scripts"):
        (tmp_path / name).mkdir()
    migrate(Settings(data=tmp_path / "at_once"))
    by_scripts, at_once = migrated_database(tmp_path / "by_scripts"), sqlite3.connect(tmp_path / "at_once" / "ingot.db")
    assert schema_statements(at_once) == schema_statements(by_scripts)
    assert _rows(at_once) == _rows(by_scripts)
    declared = {table.name for table in all_tables()}
    # The tables of the migrations themselves and of versions and changes of rows need no declaration; backups contain
    # all others.
    assert _rows(at_once).keys() - declared == {"alembic_version", "row_changes", "row_versions"}
    at_once.close()
    by_scripts.close()


def test_the_scripts_create_the_declared_tables(tmp_path: Path) -> None:
    """`make migration` proposes nothing for tables that have not changed."""
    settings, declared = Settings(data=tmp_path), all_tables()
    migrate(settings)
    config = alembic_config(SCRIPTS)
    engine = create_engine(settings.database)
    with engine.connect() as connection:
        config.attributes.update(connection=connection, metadata=declared[0].metadata)
        command.check(config)
    engine.dispose()


def test_starts_without_migrations_load_no_migration_modules(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", LOADED, str(tmp_path)], check=True)


def test_a_database_with_other_tables_is_migrated(tmp_path: Path) -> None:
    """Existing tables are kept."""
    with sqlite3.connect(tmp_path / "ingot.db") as connection:
        connection.execute("CREATE TABLE of_somebody (id INTEGER)")
    connection.close()
    migrate(Settings(data=tmp_path))
    connection = sqlite3.connect(tmp_path / "ingot.db")
    assert {"of_somebody", "projects"} <= _rows(connection).keys()
    connection.close()
