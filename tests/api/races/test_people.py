"""Concurrent removal of owners and administrators leaves one, and counters count once."""

from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import select

from ingot.accounts.users.tables import users
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from tests.api.races.concurrent_servers import ConcurrentCall, ConcurrentServers
from tests.client import Api, Make, User
from tests.factories import make_group, make_project

ROUNDS = 8
_ADMINISTRATORS = select(users.c.id).where(users.c.admin)


def _owners(api: Api, make: Make, group_id: int) -> list[str]:
    """Return the owners of a group without expiry."""
    members = api.get(f"/groups/{group_id}/members", make.root).json()
    return [each["username"] for each in members if each["access_level"] == 50 and each["expires_at"] is None]


def test_one_owner_remains(api: Api, make: Make, servers: ConcurrentServers) -> None:
    first, second, third = make.user(), make.user(), make.user()
    for _ in range(ROUNDS):
        group = make_group(make, first, members={second: Level.OWNER, third: Level.OWNER})
        ends = {"access_level": 50, "expires_at": "2099-01-01"}

        answers = servers.race(
            ConcurrentCall("DELETE", f"{group.url}/members/{first.id}", first),
            ConcurrentCall("PUT", f"{group.url}/members/{second.id}", second, {"access_level": 40}),
            ConcurrentCall("PUT", f"{group.url}/members/{third.id}", third, ends),
        )

        assert len(_owners(api, make, group.id)) == 1, answers
        assert answers.count(403) == 1


def test_deleting_users_leaves_an_owner(api: Api, make: Make, servers: ConcurrentServers) -> None:
    for _ in range(ROUNDS):
        staying, going = make.user(), make.user()
        group = make_group(make, staying, members={going: Level.OWNER})

        servers.race(
            ConcurrentCall("DELETE", f"{group.url}/members/{staying.id}", staying),
            ConcurrentCall("DELETE", f"/users/{going.id}", make.root),
        )

        assert len(_owners(api, make, group.id)) == 1


@pytest.fixture
def two_administrators(make: Make) -> Iterator[list[User]]:
    """Yield the only two administrators; others are restored after the test."""
    two = [make.user(admin=True), make.user(admin=True)]
    others = [
        row[0]
        for row in make.database.read(lambda db: db.rows(_ADMINISTRATORS))
        if row[0] not in (two[0].id, two[1].id)
    ]

    def set_others(db: Connection, admin: bool) -> None:
        for user_id in others:
            db.update(users, user_id, admin=admin)

    make.database.write(partial(set_others, admin=False))
    yield two
    make.database.write(partial(set_others, admin=True))
    for person in two:
        assert make.api.delete(f"/users/{person.id}", make.root).status_code == 200


def test_one_administrator_remains(api: Api, two_administrators: list[User], servers: ConcurrentServers) -> None:
    first, second = two_administrators
    for _ in range(ROUNDS):
        answers = servers.race(
            ConcurrentCall("PUT", f"/users/{first.id}", first, {"admin": False}),
            ConcurrentCall("POST", f"/users/{second.id}/block", first),
            ConcurrentCall("PUT", f"/users/{second.id}", second, {"admin": False}),
        )

        left = [person for person in (first, second) if api.get("/application/settings", person).status_code == 200]
        assert len(left) >= 1, answers
        for person in (first, second):
            api.post(f"/users/{person.id}/unblock", left[0])
            api.put(f"/users/{person.id}", left[0], admin=True)


def test_stars_are_counted_once(api: Api, make: Make, servers: ConcurrentServers) -> None:
    project, person = make_project(make, visibility="public"), make.user()
    for _ in range(ROUNDS):
        for verb in ("star", "unstar"):
            assert sorted(
                servers.race(*(ConcurrentCall("POST", f"{project.url}/{verb}", person) for _ in range(3)))
            ) == [
                201,
                304,
                304,
            ]
    assert api.get(project.url, make.root).json()["star_count"] == 0
