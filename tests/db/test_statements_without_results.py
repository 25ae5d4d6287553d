"""Statements without a result, which a server gets together with the next statement."""

import pytest
from sqlalchemy import bindparam, select

from ingot.accounts.instance.tables import instance_settings
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict
from ingot.core.jobs.tables import job_failures
from tests.client import Make

_COUNT = select(job_failures.c.count).where(job_failures.c.kind == bindparam("kind"))


def _count(make: Make, kind: str) -> int | None:
    count: int | None = make.database.read(lambda db: db.value(_COUNT, kind=kind))
    return count


def test_the_next_query_sees_their_changes(make: Make) -> None:
    def insert(db: Connection) -> object:
        db.insert_row(job_failures, kind="seen by a query", count=3)
        return db.value(_COUNT, kind="seen by a query")

    assert make.database.write(insert) == 3


def test_an_error_is_found_by_the_commit_at_last(make: Make) -> None:
    def insert_again(db: Connection) -> None:
        db.insert_row(job_failures, kind="never stored", count=1)
        db.insert_row(instance_settings, id=1, document="{}", created_at=db.now, updated_at=db.now)

    def read_again(db: Connection) -> object:
        db.insert_row(job_failures, kind=make.name("kind"), count=1)
        return db.value(_COUNT, kind="never stored")

    # Each is prepared by the driver after some calls, at which the one before it fails or does not.
    for _ in range(4):
        with pytest.raises(Conflict):
            make.database.write(insert_again)
        assert [make.database.write(read_again) for _ in range(3)] == [None] * 3


def test_a_transaction_that_fails_stores_nothing(make: Make) -> None:
    def fail(db: Connection) -> None:
        db.insert_row(job_failures, kind="rolled back", count=1)
        raise LookupError

    with pytest.raises(LookupError):
        make.database.write(fail)
    make.database.write(lambda db: db.insert_row(job_failures, kind="stored afterwards", count=1))
    assert (_count(make, "rolled back"), _count(make, "stored afterwards")) == (None, 1)


def test_they_run_after_a_commit_too(make: Make) -> None:
    def insert(db: Connection) -> None:
        db.after_commit(lambda later: later.insert_row(job_failures, kind="after a commit", count=1))

    make.database.write(insert)
    assert _count(make, "after a commit") == 1


def test_many_rows(make: Make) -> None:
    rows = [{"kind": f"many {number}", "count": number} for number in range(1200)]
    make.database.write(lambda db: db.insert_many(job_failures, rows))
    assert _count(make, "many 1199") == 1199
