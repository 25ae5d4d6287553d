"""Work after a commit: a failure is logged and changes nothing for the caller."""

import logging
from typing import Any, NoReturn

import pytest

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.git.core.errors import GitError
from tests.client import Make


def test_a_failure_is_logged_and_the_rest_still_runs(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    said = make.name("secret")

    def fail(_: Any) -> NoReturn:
        raise GitError("fetch", 128, said)

    def change(db: Connection) -> str:
        db.update(users, make.root.id, updated_at=db.now)
        db.after_commit(fail)
        db.after_commit(lambda _: done.append("after the commit"))
        db.after_transaction(fail)
        db.after_transaction(lambda _: done.append("after the transaction"))
        return "result"

    with caplog.at_level(logging.WARNING, "ingot"):
        assert make.database.write(change) == "result"

    assert done == ["after the commit", "after the transaction"]
    fields = [each.__dict__["fields"] for each in caplog.records if each.getMessage() == "work after a commit failed"]
    assert [each["error"] for each in fields] == ["GitError", "GitError"]
    assert all("in fail" in each["where"] and said not in str(each) for each in fields)
