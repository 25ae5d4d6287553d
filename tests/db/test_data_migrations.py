"""Data migrations of existing rows."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, Table, create_engine, insert, select

from ingot.core.db.times import timestamp
from ingot.core.migrations.run import migrate
from ingot.core.settings import Settings
from tests.server.process import fresh_database


def _url(settings: Settings) -> str:
    return settings.database.replace("postgresql://", "postgresql+psycopg://")


def _table(connection: Connection, name: str) -> Table:
    return Table(name, MetaData(), autoload_with=connection)


def _add(connection: Connection, place: str, /, **values: Any) -> None:
    """Insert a row with these values; other required columns are empty."""
    table = _table(connection, place)
    needed = [column for column in table.c if not column.nullable and column.name != "id"]
    filled = {column.name: column.type.python_type() for column in needed if column.server_default is None}
    connection.execute(insert(table).values(**{**filled, **values}))


def test_topics_of_projects_get_rows_and_merge_methods_stay(tmp_path: Path, database_url: str) -> None:
    """Each name once, ignoring case; descriptions are kept."""
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "older"))
    migrate(settings, "0003")
    engine = create_engine(_url(settings))
    with engine.begin() as connection:
        for number, created_at in ((1, "2001-01-01"), (2, "2002-02-02")):
            keys = {"full_path_key": f"p{number}", "repository_key": f"key-{number}"}
            _add(connection, "projects", id=number, created_at=created_at, **keys)
        for number, name in ((1, "Git"), (2, "git"), (2, "Described")):
            _add(connection, "project_topics", project_id=number, name=name, name_key=name.lower())
        _add(connection, "topics", name="described", name_key="described", title="A title", title_key="a title")
    migrate(settings)
    with engine.connect() as connection:
        topics = _table(connection, "topics").c
        rows = connection.execute(
            select(topics.name_key, topics.title_key, topics.described, topics.created_at).order_by(topics.name_key)
        ).all()
        assert [tuple(row) for row in rows] == [
            ("described", "a title", True, ""),
            ("git", "git", False, "2001-01-01"),
        ]
        merging = _table(connection, "projects").c
        how = select(merging.merge_method, merging.squash_option, merging.remove_source_branch_after_merge).distinct()
        assert [tuple(row) for row in connection.execute(how)] == [("merge", "default_off", True)]
    engine.dispose()


def test_existing_projects_get_a_board(tmp_path: Path, database_url: str) -> None:
    """Like new projects."""
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "boardless"))
    migrate(settings, "0004")
    engine = create_engine(_url(settings))
    with engine.begin() as connection:
        for number in (1, 2):
            keys = {"full_path_key": f"p{number}", "repository_key": f"key-{number}"}
            _add(connection, "projects", id=number, created_at="2001-01-01", **keys)
    migrate(settings)
    with engine.connect() as connection:
        boards = _table(connection, "boards").c
        shown = select(boards.project_id, boards.name, boards.hide_backlog_list).order_by(boards.project_id)
        assert [tuple(row) for row in connection.execute(shown)] == [
            (1, "Development", False),
            (2, "Development", False),
        ]
    engine.dispose()


def test_existing_bots_get_addresses_that_mark_their_commits(tmp_path: Path, database_url: str) -> None:
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "bots"))
    migrate(settings, "0115")
    engine = create_engine(_url(settings))
    names = {1: "project_7_bot_0a", 2: "projectXbotX0a", 3: "group_7_bot_0a", 4: "someone"}
    with engine.begin() as connection:
        for number, name in names.items():
            email = "own@example.org" if number == 3 else f"{number}@unverified.invalid"
            _add(connection, "users", id=number, username_key=name, email=email, bot=number != 4)
    migrate(settings)
    with engine.connect() as connection:
        columns = _table(connection, "users").c
        found = connection.execute(select(columns.email).order_by(columns.id)).scalars().all()
    assert found == [
        "project_7_bot_0a@unverified.invalid",
        "2@unverified.invalid",
        "own@example.org",
        "4@unverified.invalid",
    ]
    engine.dispose()


def test_open_issues_are_counted_without_confidential_ones(tmp_path: Path, database_url: str) -> None:
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "counting"))
    migrate(settings, "0007")
    engine = create_engine(_url(settings))
    with engine.begin() as connection:
        for number in (1, 2):
            keys = {"full_path_key": f"p{number}", "repository_key": f"key-{number}"}
            _add(connection, "projects", id=number, open_issues_count=7, **keys)
        for state, confidential, count in (("opened", False, 4), ("opened", True, 3), ("closed", False, 9)):
            row = {"state": state, "confidential": confidential, "count": count}
            _add(connection, "issue_counts", project_id=1, **row)
    migrate(settings)
    with engine.connect() as connection:
        columns = _table(connection, "projects").c
        found = connection.execute(select(columns.open_issues_count).order_by(columns.id)).scalars().all()
    assert found == [4, 0]
    engine.dispose()


def test_waiting_jobs_get_their_new_kinds(tmp_path: Path, database_url: str) -> None:
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "job_kinds"))
    migrate(settings, "0017")
    engine = create_engine(_url(settings))
    with engine.begin() as connection:
        for kind, key in (("tell jira", None), ("settle changes", "settle changes"), ("tidy project", "tidy 7")):
            _add(connection, "jobs", kind=kind, unique_key=key)
        _add(connection, "jobs", kind="recurring:ingot.gone.function", unique_key="recurring:ingot.gone.function")
        _add(connection, "recurring_jobs", name="ingot.gone.function")
    migrate(settings)
    with engine.connect() as connection:
        jobs = _table(connection, "jobs").c
        assert [tuple(row) for row in connection.execute(select(jobs.kind, jobs.unique_key).order_by(jobs.kind))] == [
            ("housekeep_project", "tidy 7"),
            ("notify_jira", None),
            ("reconcile_ref_changes", "reconcile_ref_changes"),
        ]
        assert not connection.execute(select(_table(connection, "recurring_jobs"))).all()
    engine.dispose()


def test_groups_that_require_two_factor_authentication_start_its_grace_period(
    tmp_path: Path, database_url: str
) -> None:
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "two_factor"))
    migrate(settings, "0051")
    engine = create_engine(_url(settings))
    documents = ('{"require_two_factor_authentication":true,"two_factor_grace_period":1}', "{}")
    with engine.begin() as connection:
        for document in documents:
            _add(connection, "namespaces", name=document, full_path_key=document, options_document=document)
    before = timestamp(datetime.now(UTC))
    migrate(settings)
    with engine.connect() as connection:
        groups = _table(connection, "namespaces").c
        rows = connection.execute(select(groups.two_factor_required_at).order_by(groups.id)).all()
    engine.dispose()
    (required,), (other,) = rows
    assert before[:16] <= required[:16] <= timestamp(datetime.now(UTC))[:16]
    assert len(required) == len(before)
    assert other is None


def test_webhooks_of_services_survive_integrations_of_groups(tmp_path: Path, database_url: str) -> None:
    """SQLite rebuilds the table to which they refer."""
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "ungrouped"))
    migrate(settings, "0059")
    engine = create_engine(_url(settings))
    with engine.begin() as connection:
        _add(connection, "projects", id=1, full_path_key="p1", repository_key="key-1")
        _add(connection, "services", id=7, project_id=1, slug="slack", secrets=b"sealed")
        _add(connection, "hooks", id=3, project_id=1, service_id=7)
        _add(connection, "hooks", id=4, project_id=1)
    migrate(settings)
    with engine.connect() as connection:
        hooks, services = _table(connection, "hooks").c, _table(connection, "services").c
        rows = connection.execute(select(hooks.id, hooks.service_id).order_by(hooks.id)).all()
        assert [tuple(row) for row in rows] == [(3, 7), (4, None)]
        row = connection.execute(select(services.id, services.project_id, services.group_id, services.secrets)).one()
        assert tuple(row) == (7, 1, None, b"sealed")
    engine.dispose()


def test_tasks_of_existing_descriptions_are_counted(tmp_path: Path, database_url: str) -> None:
    settings = Settings(data=tmp_path, database_url=fresh_database(database_url, "uncounted"))
    migrate(settings, "0062")
    engine = create_engine(_url(settings))
    with engine.begin() as connection:
        _add(connection, "users", id=1)
        _add(connection, "projects", id=1, full_path_key="p1", repository_key="key-1")
        for number, text in enumerate(("- [x] one\n- [ ] two", "`[x]`", "None", None), 1):
            _add(connection, "issues", project_id=1, author_id=1, iid=number, description=text)
    migrate(settings)
    with engine.connect() as connection:
        issues = _table(connection, "issues").c
        rows = connection.execute(select(issues.task_count, issues.completed_task_count).order_by(issues.iid)).all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [(2, 1), (0, 0), (0, 0), (0, 0)]
