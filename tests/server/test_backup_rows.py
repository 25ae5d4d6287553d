"""Backup and restore between both engines of an instance with rows of every kind, while others write."""

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import Column, func, select

from ingot.accounts.instance import limits
from ingot.core.db.connection import Connection
from ingot.core.db.schema import all_tables
from tests.api.hooks.conftest import clock, dispatcher, receiver, running_dispatcher  # noqa: F401 - Fixtures of webhooks.
from tests.api.hooks.receiver import Receiver
from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.lfs.conftest import LfsClient, lfs  # noqa: F401 - A fixture.
from tests.sample_data.rare_records import fill_rare_tables, leave_rewritten_commits
from tests.sample_data.records import open_sample_data
from tests.sample_data.texts import SampleTexts
from tests.server.process import fresh_database, ingot, until
from tests.server.test_backup import all_rows, data_options
from tests.sites.site import site_project

EMPTY_TABLES = {
    "acme_accounts": "Only an order at an ACME server creates one.",
    "acme_challenges": "A row exists while a certificate is being ordered.",
    "job_failures": "Only jobs of the queue that fail because of a defect are counted.",
    "merge_request_merges": "A row exists while a merge is under way.",
    "nodes": "Only processes started by ``ingot serve`` announce themselves.",
    "ref_intents": "A row exists while refs are being changed.",
    "repository_locks": "A row exists while a repository is being moved.",
    "repository_packs": "The instance has no repositories in a bucket.",
    "repository_storage_moves": "The instance has only one storage of repositories.",
    "stored_packs": "The instance has no repositories in a bucket.",
    "stored_refs": "The instance has no repositories in a bucket.",
    "stored_repositories": "The instance has no repositories in a bucket.",
}
NEVER_FORWARD = {"import_entities.parent_id": "The entity of a group is stored before those of its content."}


def _leave_audit_events(make: Make, instance: Instance) -> None:
    """Change something with a personal access token."""
    sent = {"name": "Audited", "scopes": ["api"]}
    token = make.api.post(f"/users/{make.root.id}/personal_access_tokens", make.root, **sent).json()["token"]
    assert make.api.put("/user/status", make.root.with_token(token), message="Busy").status_code == 200
    instance.app.audit_log.write_pending()


@pytest.fixture
def filled(
    instance: Instance,
    make: Make,
    lfs: LfsClient,  # noqa: F811 - The fixture imported above.
    receiver: Receiver,  # noqa: F811 - The fixture imported above.
    dispatcher: object,  # noqa: F811 - It sends the webhooks.
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Instance]:
    """Yield the shared instance with rows in all tables."""
    monkeypatch.setattr(limits, "RELOAD_SECONDS", -1.0)
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        fill_rare_tables(samples, lfs, receiver)
        TrainProject(make, instance).offer_and_add("a")
        _leave_audit_events(make, instance)
        leave_rewritten_commits(make)
        site_project(make, instance).deploy()
        with changed_settings(make, unique_ips_limit_enabled=True):
            assert make.api.get("/user", make.user()).status_code == 200
        yield instance


def _self_references() -> list[Column[int]]:
    return [key.parent for table in all_tables() for key in table.foreign_keys if key.column.table is table]


def _empty_tables(db: Connection) -> set[str]:
    return {str(table) for table in all_tables() if not db.value(select(func.count()).select_from(table))}


def _never_forward(db: Connection) -> set[str]:
    """Return the references to the same table of which none refers to a later row."""
    references = {str(column): column for column in _self_references()}
    return {
        name
        for name, column in references.items()
        if not db.value(select(func.count()).where(column > column.table.c.id))
    }


def _restored(file: Path, target: Path, database_url: str) -> None:
    done = ingot("restore", file, *data_options(target, database_url))
    assert (done.returncode, done.stderr) == (0, "")


def _backed_up(file: Path, source: Path, database_url: str) -> Path:
    done = ingot("backup", file, *data_options(source, database_url))
    assert (done.returncode, done.stderr) == (0, "")
    return file


def _backup_under_load(filled: Instance, make: Make, file: Path) -> None:
    """Write a backup while issues are created."""
    project, stop, created = make_project(make), threading.Event(), count()
    answers: list[int] = []

    def create() -> None:
        with Api(filled.url) as api:
            while not stop.is_set():
                answer = api.post(f"{project.url}/issues", make.root, title=f"Issue {next(created)}")
                answers.append(answer.status_code)

    thread = threading.Thread(target=create)
    thread.start()
    try:
        until("the first issues", lambda: len(answers) > 2)
        _backed_up(file, filled.settings.data, filled.settings.database_direct_url)
    finally:
        stop.set()
        thread.join()
    assert set(answers) == {201}


def test_rows_of_every_kind_survive_in_all_directions(
    filled: Instance, make: Make, tmp_path: Path, database_url: str
) -> None:
    """Every table has rows, and references to later rows exist wherever they are possible."""
    database = filled.app.database
    assert database.read(_empty_tables) <= set(EMPTY_TABLES)
    assert database.read(_never_forward) == set(NEVER_FORWARD)
    before = all_rows(filled.settings.data, database_url)
    _backup_under_load(filled, make, tmp_path / "first.tar.gz")
    after = all_rows(filled.settings.data, database_url)
    engines = {"sqlite": ""} | ({"postgresql": fresh_database(database_url, "restored_rows")} if database_url else {})
    for source, source_url in engines.items():
        _restored(tmp_path / "first.tar.gz", tmp_path / source, source_url)
        rows = all_rows(tmp_path / source, source_url)
        for table, kept in rows.items():
            assert set(before[table]) & set(after[table]) <= set(kept), table
        again = _backed_up(tmp_path / f"{source}.tar.gz", tmp_path / source, source_url)
        for target in engines:
            data = tmp_path / f"{source}-{target}"
            target_url = fresh_database(database_url, "restored_again") if target == "postgresql" else ""
            _restored(again, data, target_url)
            assert all_rows(data, target_url) == rows
    assert len({str(all_rows(tmp_path / name, url)) for name, url in engines.items()}) == 1
