"""``make schema``: writes the statements that make the newest schema at once, as all scripts together make it."""

import re
import sqlite3
import tempfile
from pathlib import Path

from ingot.core.migrations.run import NEWEST_SCHEMA_FILE, SCRIPTS, newest_revision
from ingot.core.migrations.upgrade import upgrade
from ingot.settings import Settings

# What a search index keeps beside itself is made with it.
_ALL = """
SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid
"""


def schema_statements(connection: sqlite3.Connection) -> list[str]:
    """What would make the tables, indexes and triggers of a database again, in their order."""
    return [_normalize_sql(sql) for (sql,) in connection.execute(_ALL)]


def _normalize_sql(sql: str) -> str:
    return re.sub(r"[ \t]+\n", "\n", sql).replace("\t", "    ").rstrip()


def migrated_database(folder: Path) -> sqlite3.Connection:
    """An empty database on which every script has run."""
    upgrade(Settings(data=folder), SCRIPTS, "head")
    return sqlite3.connect(folder / "ingot.db")


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        connection = migrated_database(Path(folder))
        made = [f"{statement};\n" for statement in schema_statements(connection)]
        connection.close()
    revision = newest_revision()
    head = f"-- What the scripts make together; `make schema` writes it. Revision: {revision}\n"
    stamp = f"INSERT INTO alembic_version (version_num) VALUES ('{revision}');\n"  # noqa: S608 - A number of our own.
    NEWEST_SCHEMA_FILE.write_text(head + "".join(made) + stamp)


if __name__ == "__main__":
    main()
