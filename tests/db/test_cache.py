"""Read cache: results equal those of a new query, because any commit by any connection empties the cache."""

import threading
from functools import partial
from typing import Any

from sqlalchemy import exists, select

from ingot.accounts.users.tables import users
from ingot.cache import REGISTRY, CacheStats
from ingot.core.db import cache
from ingot.core.db.connection import Connection
from tests.client import Api, Make


class CountingQuery:
    """Query that counts its executions."""

    def __init__(self, answer: Any = "answer") -> None:
        self.asked = 0
        self._answer = answer

    def __call__(self) -> Any:
        self.asked += 1
        return self._answer


def _run(make: Make, key: str, question: CountingQuery, size: int = 10) -> Any:
    return make.database.read(lambda db: db.cached(key, question, lambda _: size))


def _change(make: Make) -> None:
    """Commit any change."""
    make.database.write(lambda db: db.update(users, make.root.id, updated_at=db.now))


def test_a_query_runs_once_without_changes(make: Make) -> None:
    question, key = CountingQuery(), make.name()
    # Other parts of the server may commit at any time, so this is tried more than once.
    for _ in range(20):
        assert _run(make, key, question) == "answer"

    assert question.asked < 20


def test_any_commit_invalidates_at_once(make: Make) -> None:
    question, key = CountingQuery(), make.name()

    for number in range(1, 4):
        _run(make, key, question)
        assert question.asked >= number
        other = threading.Thread(target=_change, args=(make,))
        other.start()
        other.join()
        before = question.asked
        _run(make, key, question)
        assert question.asked == before + 1


def test_a_commit_of_a_running_transaction_invalidates(make: Make) -> None:
    """It changed a row before the query first ran, and commits afterwards."""
    question, key = CountingQuery(), make.name()
    changed, asked = threading.Event(), threading.Event()

    def change_and_wait(db: Connection) -> None:
        db.update(users, make.root.id, updated_at=db.now)
        changed.set()
        assert asked.wait(60)

    other = threading.Thread(target=make.database.write, args=(change_and_wait,))
    other.start()
    assert changed.wait(60)
    _run(make, key, question)
    before = question.asked
    asked.set()
    other.join()
    _run(make, key, question)
    assert question.asked == before + 1


def test_a_writing_transaction_bypasses_the_cache(make: Make) -> None:
    user = make.user()

    def rename(db: Connection) -> list[Any]:
        name_now = partial(db.value, select(users.c.name).where(users.c.id == user.id))
        seen = []
        for name in ("One", "Two"):
            db.update(users, user.id, name=name)
            seen.append(db.cached(("name", user.id), name_now, len))
        return seen

    assert make.database.write(rename) == ["One", "Two"]


def test_empty_results_are_not_cached(make: Make) -> None:
    question = CountingQuery(None)

    assert [_run(make, "nothing", question) for _ in range(3)] == [None] * 3
    assert question.asked == 3


def _stats() -> CacheStats:
    return next(stats for stats in REGISTRY.stats() if stats.name == "database-reads")


def test_memory_is_bounded_and_counted(make: Make) -> None:
    def fill(db: Connection) -> None:
        for number in range(2 * cache._MAX_KEYS):
            db.cached(("small", number), CountingQuery(), lambda _: 10)
        for number in range(10):
            db.cached(("large", number), CountingQuery(), lambda _: REGISTRY.largest_entry // 2)
        db.cached("too large", CountingQuery(), lambda _: REGISTRY.largest_entry + 1)

    before = _stats()
    make.database.read(fill)

    assert _stats().misses - before.misses >= 2 * cache._MAX_KEYS + 11
    assert _stats().entries <= 2 * cache._MAX_KEYS
    assert REGISTRY.bytes <= REGISTRY.budget_bytes
    _change(make)
    make.database.read(lambda db: db.cached("one", CountingQuery(), lambda _: 10))
    assert _stats().bytes < 2**20, "The commit has emptied it."


def test_withdrawn_access_ends_with_the_next_request(api: Api, make: Make) -> None:
    """Attack: use a membership, visibility, token or user state right after it was withdrawn."""
    owner, member = make.user(), make.user()
    other = member.with_token(make.token(member.id))
    project = api.post("/projects", owner, name=make.name("kept"), visibility="private").json()
    path = f"/projects/{project['id']}"
    assert api.get(path, member).status_code == 404
    assert api.post(f"{path}/members", owner, user_id=member.id, access_level=30).status_code == 201
    assert api.get(path, member).json()["permissions"]["project_access"]["access_level"] == 30
    assert [each["id"] for each in api.get("/projects", member, membership=True).json()] == [project["id"]]
    assert api.delete(f"{path}/members/{member.id}", owner).is_success
    assert api.get(path, member).status_code == 404
    assert api.get("/projects", member, membership=True).json() == []
    assert api.put(path, owner, visibility="internal").status_code == 200
    assert api.get(path, other).status_code == 200
    assert api.delete("/personal_access_tokens/self", other).is_success
    assert api.get(path, other).status_code == 401
    assert api.get(path, member).status_code == 200
    assert api.post(f"/users/{member.id}/block", make.root).status_code == 201
    assert api.get(path, member).status_code == 401


def test_booleans_are_restored(make: Make) -> None:
    """Computed ones and null included."""
    admin = select(users.c.admin, users.c.id, exists().where(users.c.id == make.root.id)).where(
        users.c.id == make.root.id
    )

    assert make.database.read(lambda db: db.rows(admin)) == [(True, make.root.id, True)]
    assert make.database.read(lambda db: db.value(admin)) is True
    assert make.database.read(lambda db: db.rows(admin.where(~users.c.admin))) == []
