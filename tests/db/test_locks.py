"""Named locks: required by some changes, and held by transactions only."""

import threading

import pytest
from sqlalchemy import select

from ingot.accounts.users.tables import users
from ingot.core.access.rules import signed_in
from ingot.core.api.routes import Call, Routes
from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.projects.namespaces.service import add_namespace
from tests.client import Make


def test_a_change_without_its_lock_fails(make: Make) -> None:
    path = make.name("unlocked")

    with pytest.raises(RuntimeError, match=NAMESPACES):
        make.database.write(lambda db: add_namespace(db, "group", path, path, None))


def test_a_lock_ends_with_its_transaction(make: Make) -> None:
    """A failed transaction releases it too; each transaction acquires it again."""

    def fail(db: Connection) -> None:
        db.lock(NAMESPACES)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make.database.write(fail)
    with pytest.raises(RuntimeError):
        make.database.write(lambda db: db.must_hold(NAMESPACES))
    done: list[None] = []
    other = threading.Thread(target=lambda: done.append(make.database.write(lambda db: db.lock(NAMESPACES))))
    other.start()
    other.join()
    assert done == [None]


def test_the_holder_sees_the_changes_of_the_previous_one(make: Make) -> None:
    """Each adds one to the value it reads; without the lock, two would read the same value."""
    counter = {"number": 0}

    def count(db: Connection) -> None:
        db.lock("counting")
        read = counter["number"]
        # During this round trip others run; without the lock they would read the same value.
        db.rows(select(users.c.id))
        counter["number"] = read + 1

    threads = [threading.Thread(target=make.database.write, args=(count,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counter["number"] == 8


def test_a_read_cannot_declare_a_lock() -> None:
    routes = Routes("nowhere")

    def read(call: Call) -> None:
        """Read."""

    with pytest.raises(TypeError, match="transaction"):
        routes.get("/nowhere", may=signed_in, returns=None, locks=NAMESPACES)(read)
