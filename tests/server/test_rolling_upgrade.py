"""A node of the previous version on a database that a newer version has migrated."""

from pathlib import Path

import psycopg
import pytest

from ingot.core.migrations.errors import SchemaError
from ingot.core.migrations.run import migrate, newest_revision
from tests.server.in_process_server import first_settings, serve_in_process


def test_a_newer_schema_is_served_as_long_as_it_only_adds(data_folder: Path, empty_database: str) -> None:
    if not empty_database:
        pytest.skip("An embedded database has one node.")
    settings = first_settings(data_folder, empty_database)
    migrate(settings)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("ALTER TABLE projects ADD COLUMN later text DEFAULT 'x' NOT NULL")
        connection.execute("CREATE TABLE later_things (id bigint PRIMARY KEY)")
        connection.execute("UPDATE alembic_version SET version_num = '9000'")
        with serve_in_process(settings) as inside:
            project = inside.call("POST", "/projects", json={"name": "p"})
            assert project.status_code == 201
            assert inside.call("GET", f"/projects/{project.json()['id']}").json()["name"] == "p"
        connection.execute("COMMENT ON TABLE alembic_version IS 'oldest=9000'")
        with pytest.raises(SchemaError, match=f"newer than this version of Ingot knows .{newest_revision()}"):
            migrate(settings)
