"""Long work that a transaction needs: it is done while none is open, and the transaction begins again."""

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.events.bus import DeferredSubscribers, Event, event_name
from ingot.core.jobs.tables import job_failures
from ingot.core.late_imports import LateFunction
from ingot.core.offload import outside_transaction
from tests.client import Make

_ROWS = select(func.count()).where(job_failures.c.kind == bindparam("kind"))


def _count_rows(make: Make, kind: str) -> int | None:
    count: int | None = make.database.read(lambda db: db.value(_ROWS, kind=kind))
    return count


class _Happened(Event, frozen=True):
    """Event without subscribers."""


def test_a_transaction_begins_again_with_the_result(make: Make) -> None:
    kind, begun = make.name("kind"), 0

    def compute() -> int:
        # With an open transaction, the embedded database would refuse this one.
        make.database.write(lambda db: db.insert_row(job_failures, kind=f"{kind} computed", count=1))
        return 7

    def change(db: Connection) -> int:
        nonlocal begun
        begun += 1
        db.insert_row(job_failures, kind=kind, count=1)
        return outside_transaction("key", compute) + outside_transaction("key", compute)

    assert make.database.write(change) == 14
    assert begun == 2
    assert _count_rows(make, kind) == _count_rows(make, f"{kind} computed") == 1


def test_functions_and_subscribers_are_loaded_between_transactions(make: Make) -> None:
    name = LateFunction(lambda: event_name)
    subscribers = DeferredSubscribers({})
    begun = 0

    def change(_: Connection) -> tuple[str, int]:
        nonlocal begun
        begun += 1
        return name(_Happened).rpartition(":")[2], len(subscribers[_Happened])

    assert make.database.write(change) == ("_Happened", 0)
    assert begun == 3
    assert make.database.write(change) == ("_Happened", 0)
    assert begun == 4
