"""Deleting users: records that are deleted, reassigned or kept."""

import pytest
from sqlalchemy import bindparam, update

from ingot.accounts.users import service
from ingot.accounts.users.params import ModifyUser
from ingot.accounts.users.queries import find_user, placeholder_user
from ingot.accounts.users.tables import users
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Denied
from ingot.core.names import NAMESPACES
from tests.client import Api, Make
from tests.conftest import Instance
from tests.ssh_public_keys import ed25519_line


@pytest.mark.parametrize("hard", [None, False, True])
@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("stranger", 403), ("self", 403), ("admin", 200)])
def test_administrators_delete_users(api: Api, make: Make, who: str, status: int, hard: bool | None) -> None:
    user = make.user()
    caller = {"nobody": None, "stranger": make.user(), "self": user, "admin": make.root}[who]

    answer = api.delete(f"/users/{user.id}", caller, **({} if hard is None else {"hard_delete": hard}))

    assert answer.status_code == status
    assert api.get(f"/users/{user.id}", make.root).status_code == (404 if status == 200 else 200)
    if status == 200:
        assert (answer.json()["id"], answer.json()["email"]) == (user.id, user.email)


@pytest.mark.parametrize("user_id", ["0", "999999999"])
def test_deleting_a_deleted_user(api: Api, make: Make, user_id: str) -> None:
    answer = api.delete(f"/users/{user_id}", make.root)

    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("user_id", ["999999999999999999999", "no-number"])
def test_invalid_ids_are_rejected(api: Api, make: Make, user_id: str) -> None:
    assert api.delete(f"/users/{user_id}", make.root).status_code == 404


def test_deletion_is_idempotent(api: Api, make: Make) -> None:
    user = make.user()

    first, second = (api.delete(f"/users/{user.id}", make.root) for _ in range(2))

    assert (first.json()["id"], second.status_code, second.content) == (user.id, 200, b"")


def test_all_data_of_the_user_is_deleted(api: Api, make: Make) -> None:
    """A new user with the same username, email address or key inherits nothing."""
    key, address, uid = ed25519_line(), f"{make.name()}@example.org", make.name("uid")
    user, other = make.user(provider="github", extern_uid=uid), make.user()
    api.post("/user/keys", user, title="Key", key=key)
    api.post("/user/emails", user, email=address)
    api.put("/user/status", user, message="Here")
    api.put(f"/users/{user.id}/custom_attributes/team", make.root, value="red")
    api.post(f"/users/{user.id}/follow", other)
    api.post(f"/users/{other.id}/follow", user)

    assert api.delete(f"/users/{user.id}", make.root).status_code == 200

    assert api.get("/user", user).status_code == 401
    assert api.get(f"/users/{other.id}/followers", other).json() == []
    heir = make.user(username=user.username, email=user.email, provider="github", extern_uid=uid)
    assert heir.id != user.id
    assert api.post("/user/keys", heir, title="Key", key=key).status_code == 201
    assert api.post("/user/emails", heir, email=address).status_code == 201
    assert api.get("/user/status", heir).json()["message"] == ""
    assert api.get(f"/users/{heir.id}/custom_attributes", make.root).json() == []
    assert api.get("/user", user).status_code == 401


def test_the_ghost_user_cannot_be_deleted(instance: Instance, api: Api, make: Make) -> None:
    placeholder = instance.app.database.read(placeholder_user)

    assert api.delete(f"/users/{placeholder.id}", make.root).status_code == 403
    assert api.get(f"/users/{placeholder.id}", make.root).status_code == 200


class _Undo(Exception):
    """Exception that rolls back a transaction."""


@pytest.mark.parametrize(("others", "stops"), [(0, True), (1, False)])
@pytest.mark.parametrize("verb", ["delete", "demote", "set_admin"])
def test_the_last_administrator_stays(instance: Instance, make: Make, verb: str, others: int, stops: bool) -> None:
    """In a rolled-back transaction, because other tests need their administrators."""
    actor = Actor(user_id=make.root.id, admin=True)
    demote_all = update(users).where(users.c.id != bindparam("kept")).values(admin=False)
    other = make.user()

    def act(db: Connection) -> None:
        db.lock(NAMESPACES)
        db.run(demote_all, kept=make.root.id)
        if others:
            db.update(users, other.id, admin=True)
        root = find_user(db, make.root.id)
        try:
            match verb:
                case "delete":
                    service.delete_user(db, root, hard=True)
                case "demote":
                    service.modify_user(db, actor, root, ModifyUser(admin=False), None)
                case _:
                    service.set_admin(db, root, False)
        except Denied as refusal:
            raise _Undo(refusal.reason) from refusal
        raise _Undo

    with pytest.raises(_Undo) as undone:
        instance.app.database.write(act)

    assert str(undone.value) == ("There must be at least one active administrator" if stops else "")
