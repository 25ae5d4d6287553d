"""A node of the previous version on a database that a newer version has migrated."""

from pathlib import Path

import psycopg
import pytest

from ingot.core.migrations.errors import SchemaError
from ingot.core.migrations.run import migrate, newest_revision
from tests.server.in_process_server import InProcessServer, first_settings, serve_in_process

CALLS = 8
"""More than the driver sees before it prepares a statement."""


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


def test_the_schema_may_change_while_a_node_of_the_previous_version_serves(
    data_folder: Path, empty_database: str
) -> None:
    """Its statements are prepared by then, and its writes run triggers that it does not know."""
    if not empty_database:
        pytest.skip("An embedded database has one node.")
    settings = first_settings(data_folder, empty_database)
    with serve_in_process(settings) as inside:
        project = inside.call("POST", "/projects", json={"name": "p"}).json()["id"]
        _use(inside, project)
        with psycopg.connect(empty_database, autocommit=True) as connection:
            connection.execute("ALTER TABLE issues ADD COLUMN later text DEFAULT 'x' NOT NULL")
            connection.execute("CREATE TABLE later_changes (issue_id bigint NOT NULL)")
            connection.execute(
                "CREATE FUNCTION record_later() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN INSERT INTO later_changes VALUES (NEW.id); RETURN NULL; END $$"
            )
            connection.execute(
                "CREATE TRIGGER later AFTER INSERT ON issues FOR EACH ROW EXECUTE FUNCTION record_later()"
            )
            connection.execute("UPDATE alembic_version SET version_num = '9000'")
            _use(inside, project)
            recorded = connection.execute("SELECT count(*) FROM later_changes").fetchone()
    assert recorded == (CALLS,)


def _use(inside: InProcessServer, project: int) -> None:
    for number in range(CALLS):
        issue = inside.call("POST", f"/projects/{project}/issues", json={"title": f"issue {number}"})
        assert issue.status_code == 201
        path = f"/projects/{project}/issues/{issue.json()['iid']}"
        assert inside.call("PUT", path, json={"title": "changed"}).json()["title"] == "changed"
        assert inside.call("GET", path).json()["title"] == "changed"
