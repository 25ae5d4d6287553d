"""Read cache: results equal those of a new query, because commits by any connection remove what depends on them."""

import threading
from functools import partial
from importlib import import_module
from typing import Any

from sqlalchemy import exists, select

from ingot.accounts.users.tables import users
from ingot.core.cache import REGISTRY, CacheStats
from ingot.core.db import cache
from ingot.core.db.connection import Connection
from ingot.core.db.engines import MAX_CHANGES
from ingot.core.db.row_changes import delete_old_row_changes
from ingot.core.migrations.run import NEWEST_SCHEMA_FILE
from tests.api.issues.factories import make_issue
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import make_group, make_project, statements_beside_writes


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
    """Commit a change; SQLite writes nothing if all values stay the same."""
    make.database.write(lambda db: db.update(users, make.root.id, skype=make.name()))


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


def test_withdrawn_access_by_groups_ends_with_the_next_request(api: Api, make: Make) -> None:
    """Attack: use the access by a group, a share or an invitation right after it was withdrawn."""
    member = make.user()
    group, invited, other = make_group(make), make_group(make, members={member: 30}), make_group(make)
    project = make_project(make, group=group)
    by_id = {"group_id": invited.id, "group_access": 20}
    steps: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"/groups/{group.id}/members", {"user_id": member.id, "access_level": 20}),
        ("DELETE", f"/groups/{group.id}/members/{member.id}", {}),
        ("POST", f"/projects/{project.id}/share", by_id),
        ("DELETE", f"/projects/{project.id}/share/{invited.id}", {}),
        ("POST", f"/groups/{group.id}/share", by_id),
        ("DELETE", f"/groups/{group.id}/share/{invited.id}", {}),
        ("PUT", f"/projects/{project.id}/transfer", {"namespace": invited.id}),
        ("PUT", f"/projects/{project.id}/transfer", {"namespace": other.id}),
    ]

    assert api.get(f"/projects/{project.id}", member).status_code == 404
    for number, (method, path, sent) in enumerate(steps):
        assert api.request(method, path, make.root, json=sent).is_success
        assert api.get(f"/projects/{project.id}", member).status_code == (404 if number % 2 else 200)


def test_a_new_project_at_an_old_path(api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)
    old = project.path.replace("/", "%2F")
    assert api.put(f"/projects/{project.id}", owner, path=make.name("renamed")).is_success
    assert api.get(f"/projects/{old}", owner).json()["id"] == project.id
    new = api.post("/projects", owner, name=make.name("new"), path=project.path.rpartition("/")[2]).json()

    assert api.get(f"/projects/{old}", owner).json()["id"] == new["id"] != project.id


_NAME = select(users.c.name)


def _name(make: Make, user: User) -> str:
    """Return a user's name from the cache, which depends on this user alone."""

    def read(db: Connection) -> str | None:
        read_name = partial(db.value, _NAME.where(users.c.id == user.id))
        return db.cached(("name of", user.id), read_name, len, lambda _: {"users": user.id})

    return make.database.read(read) or ""


def _rename(make: Make, user: User, name: str) -> None:
    make.database.write(lambda db: db.update(users, user.id, name=name))


def test_a_result_depends_on_its_own_rows(make: Make) -> None:
    """Also if the transaction that changes them began before another one that committed first."""
    user, other = make.user(), make.user()
    changed, read = threading.Event(), threading.Event()

    def rename_and_wait(db: Connection) -> None:
        db.update(users, user.id, name="Second")
        changed.set()
        assert read.wait(60)

    _rename(make, user, "First")
    slow = threading.Thread(target=make.database.write, args=(rename_and_wait,))
    slow.start()
    assert changed.wait(60)
    if not make.database.embedded:  # SQLite has one writer at a time.
        _rename(make, other, "Other")
    assert _name(make, user) == "First"
    read.set()
    slow.join()

    assert _name(make, user) == "Second"
    before = _stats().misses
    _rename(make, other, "Another")
    assert _name(make, user) == "Second"
    assert _stats().misses == before


def test_many_changes_between_two_reads(make: Make) -> None:
    """The cache is emptied instead of reading them all, so that old ones can be deleted."""
    user, other = make.user(), make.user()
    assert _name(make, user)

    def change(db: Connection) -> None:
        db.update(users, user.id, name="New")
        for number in range(MAX_CHANGES):
            db.update(users, other.id, name=str(number))

    make.database.write(change)
    make.database.write(delete_old_row_changes)

    assert _name(make, user) == "New"


def test_the_recorded_tables() -> None:
    """A migration that creates a recorded table anew must create its triggers again."""
    script = import_module("ingot.core.migrations.versions.0047_row_changes")
    schema = NEWEST_SCHEMA_FILE.read_text()

    assert script._TABLES == cache.RECORDED_TABLES
    assert [table for table in script._TABLES if f"CREATE TRIGGER {table}_change_insert " not in schema] == []


def test_statements_while_others_commit(api: Api, make: Make) -> None:
    """Each call follows a commit elsewhere, of which it must not forget the caller and the project."""
    owner, other = make.user(), make.user()
    project, elsewhere = filled_project(make, owner), make_project(make, other)
    number = make_merge_request(make, project, owner)["iid"]
    costs = {
        path: statements_beside_writes(make, partial(api.get, path, owner), lambda: make_issue(make, elsewhere, other))
        for path in ("/user", f"/projects/{project.id}", f"/projects/{project.id}/merge_requests/{number}")
    }

    assert [cost <= most for cost, most in zip(costs.values(), (2, 2, 7), strict=True)] == [True] * 3, costs


def test_booleans_are_restored(make: Make) -> None:
    """Computed ones and null included."""
    admin = select(users.c.admin, users.c.id, exists().where(users.c.id == make.root.id)).where(
        users.c.id == make.root.id
    )

    assert make.database.read(lambda db: db.rows(admin)) == [(True, make.root.id, True)]
    assert make.database.read(lambda db: db.value(admin)) is True
    assert make.database.read(lambda db: db.rows(admin.where(~users.c.admin))) == []
