"""Blocking, banning and deactivating users: effects, permissions and responses."""

import pytest

from ingot.accounts.users.queries import find_user, placeholder_user
from ingot.accounts.users.service import block_by_directory, remove_block
from tests.client import Api, Make
from tests.conftest import Instance

PAIRS = [
    ("/users/{id}/block", "/users/{id}/unblock", "blocked"),
    ("/users/{id}/ban", "/users/{id}/unban", "banned"),
    ("/users/{id}/deactivate", "/users/{id}/activate", "deactivated"),
]
PATHS = [path for pair in PAIRS for path in pair[:2]]


@pytest.mark.parametrize(("stop", "go", "state"), PAIRS)
def test_block_and_unblock(api: Api, make: Make, stop: str, go: str, state: str) -> None:
    """The response is true if the state changed, otherwise null or false, as clients expect."""
    user = make.user()
    rows = [(stop, True, state), (stop, None, state), (go, True, "active"), (go, False, "active")]

    for path, body, now in rows:
        answer = api.post(path.format(id=user.id), make.root)
        assert (answer.status_code, answer.json()) == (201, body)
        assert api.get(f"/users/{user.id}", make.root).json()["state"] == now
        assert api.get("/user", user).status_code == (200 if now == "active" else 401)


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("stranger", 403), ("self", 403)])
@pytest.mark.parametrize("path", PATHS)
def test_other_users_may_not_block(api: Api, make: Make, path: str, who: str, status: int) -> None:
    user = make.user()
    caller = {"nobody": None, "stranger": make.user(), "self": user}[who]

    assert api.post(path.format(id=user.id), caller).status_code == status
    assert api.get("/user", user).status_code == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("user_id", ["0", "999999999", "no-number"])
def test_missing_users(api: Api, make: Make, path: str, user_id: str) -> None:
    answer = api.post(path.format(id=user_id), make.root)

    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


@pytest.mark.parametrize("verb", ["block", "unblock"])
def test_users_blocked_by_ldap_cannot_be_unblocked(instance: Instance, api: Api, make: Make, verb: str) -> None:
    user = make.user()
    database = instance.app.database
    database.write(lambda db: block_by_directory(db, find_user(db, user.id)))

    refused = api.post(f"/users/{user.id}/{verb}", make.root)

    assert refused.status_code == 403
    assert refused.json()["message"].startswith("403 Forbidden - LDAP blocked users cannot be ")
    assert api.get("/user", user).status_code == 401
    database.write(lambda db: remove_block(db, find_user(db, user.id)))
    assert api.get("/user", user).status_code == 200


def test_oneself_and_the_ghost_user_cannot_be_blocked(instance: Instance, api: Api, make: Make) -> None:
    administrator = make.user(admin=True)
    placeholder = instance.app.database.read(placeholder_user)

    for user_id in (administrator.id, placeholder.id):
        for verb in ("block", "ban", "deactivate"):
            assert api.post(f"/users/{user_id}/{verb}", administrator).status_code == 403
    assert api.get("/user", administrator).status_code == 200


def test_only_deactivated_users_can_be_activated(api: Api, make: Make) -> None:
    user = make.user()
    api.post(f"/users/{user.id}/block", make.root)

    assert api.post(f"/users/{user.id}/activate", make.root).status_code == 403
    assert api.get("/user", user).status_code == 401


def test_blocked_users_keep_their_name_and_address(api: Api, make: Make) -> None:
    user = make.user()
    api.post(f"/users/{user.id}/block", make.root)
    sent = {"name": "x", "password": "long-enough"}

    taken = api.post("/users", make.root, username=user.username, email=f"{make.name()}@example.org", **sent)

    assert taken.status_code == 409
