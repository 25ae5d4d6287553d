"""Instance settings about access tokens."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from ingot.accounts.tokens.lifetimes import shorten_tokens
from ingot.accounts.tokens.tables import access_tokens
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, make_group, make_project
from tests.instance_settings import PATH

DAY = "2999-01-31"
Day = Callable[[int], str]


@pytest.fixture
def day(instance: Instance) -> Day:
    """Return a function that returns the date in a number of days."""
    return lambda days: str(add_duration(instance.app.database.clock(), days=days)[:10])


def test_new_tokens_need_an_expiry_date(api: Api, make: Make) -> None:
    person, root = make.user(), make.root
    paths = [
        (f"/users/{person.id}/personal_access_tokens", root),
        (f"/users/{person.id}/impersonation_tokens", root),
    ]
    for path, caller in paths:
        assert api.post(path, caller, name="early", scopes=["api"]).status_code == 201, path

    with changed_settings(make, require_personal_access_token_expiry=True):
        for path, caller in paths:
            refused = api.post(path, caller, name="x", scopes=["api"])
            assert (refused.status_code, refused.json()) == (400, {"message": {"expires_at": ["can't be blank"]}})
            made = api.post(path, caller, name="x", scopes=["api"], expires_at=DAY)
            assert (made.status_code, made.json()["expires_at"]) == (201, DAY), path
        own = api.post("/user/personal_access_tokens", person, name="x", scopes=["k8s_proxy"])
        assert own.json() == {"message": {"expires_at": ["can't be blank"]}}
        assert api.get("/user", person).status_code == 200, "Existing tokens stay valid."


def test_prefix_of_tokens(api: Api, make: Make) -> None:
    path = f"/users/{make.user().id}/personal_access_tokens"

    def new_token() -> str:
        token: str = api.post(path, make.root, name="x", scopes=["api"]).json()["token"]
        assert api.get("/user", make.root.with_token(token)).status_code == 200
        return token

    assert api.get(PATH, make.root).json()["personal_access_token_prefix"] == "ingotp-"
    assert new_token().startswith("ingotp-")
    with changed_settings(make, personal_access_token_prefix="harbour:"):
        assert new_token().startswith("harbour:")
    with changed_settings(make, personal_access_token_prefix=""):
        assert not new_token().startswith("ingotp-")
    for prefix in ("two words", "x" * 21, "ß"):
        assert api.put(PATH, make.root, personal_access_token_prefix=prefix).status_code == 400, prefix


def test_lifetime_of_new_tokens(api: Api, make: Make, day: Day) -> None:
    person, root = make.user(), make.root
    project = make_project(make, person)
    group = make_group(make, person)
    latest = day(10)
    paths: list[tuple[str, User, dict[str, Any]]] = [
        (f"/users/{person.id}/personal_access_tokens", root, {}),
        (f"/users/{person.id}/impersonation_tokens", root, {}),
        ("/user/personal_access_tokens", person, {"scopes": ["k8s_proxy"]}),
        (f"{project.url}/access_tokens", person, {"access_level": 30}),
        (f"{group.url}/access_tokens", person, {"access_level": 30}),
    ]
    with changed_settings(make, max_personal_access_token_lifetime=10):
        for path, caller, more in paths:
            sent = {"name": "x", "scopes": ["api"], **more}
            refused = api.post(path, caller, **sent, expires_at=day(11))
            assert (refused.status_code, refused.json()) == (
                400,
                {"message": {"expires_at": [f"must not be after {latest}"]}},
            ), path
            assert api.post(path, caller, **sent, expires_at=latest).status_code == 201, path
            unlimited = api.post(path, caller, **sent)
            assert (unlimited.status_code, unlimited.json()["expires_at"]) == (201, latest), path
            if "projects" not in path and "groups" not in path:
                with changed_settings(make, require_personal_access_token_expiry=True):
                    assert api.post(path, caller, **sent).json() == {"message": {"expires_at": ["can't be blank"]}}
    for value in (0, 401, "x"):
        assert api.put(PATH, root, max_personal_access_token_lifetime=value).status_code == 400, value


def test_lifetime_of_rotated_tokens(api: Api, make: Make, day: Day) -> None:
    person = make.user()
    path = f"/users/{person.id}/personal_access_tokens"

    def rotated(**sent: str) -> Any:
        token = api.post(path, make.root, name="x", scopes=["api"]).json()
        return api.post("/personal_access_tokens/self/rotate", make.root.with_token(token["token"]), **sent)

    assert rotated(expires_at=day(300)).json()["expires_at"] == day(300)
    with changed_settings(make, max_personal_access_token_lifetime=5):
        assert rotated(expires_at=day(6)).status_code == 400
        assert rotated(expires_at=day(5)).json()["expires_at"] == day(5)
        assert rotated().json()["expires_at"] == day(5)


def test_existing_tokens_are_shortened(api: Api, make: Make, instance: Instance, day: Day) -> None:
    person = make.user()
    path = f"/users/{person.id}/personal_access_tokens"
    project = make_project(make, person)

    def made(**sent: str) -> int:
        return int(api.post(path, make.root, name="x", scopes=["api"], **sent).json()["id"])

    unlimited, long, short = made(), made(expires_at=day(300)), made(expires_at=day(2))
    bots = {"name": "x", "scopes": ["api"], "access_level": 30, "expires_at": day(200)}
    bot = int(api.post(f"{project.url}/access_tokens", person, **bots).json()["id"])

    def expiries() -> list[str | None]:
        found = [api.get(f"/personal_access_tokens/{each}", make.root).json() for each in (unlimited, long, short, bot)]
        return [each["expires_at"] for each in found]

    database = instance.app.database
    before = database.read(_all_expiries)
    try:
        database.write(shorten_tokens)
        assert expiries() == [None, day(300), day(2), day(200)]
        with changed_settings(make, max_personal_access_token_lifetime=30):
            database.write(shorten_tokens)
            assert expiries() == [day(30), day(30), day(2), day(30)]
        assert api.get("/user", person).status_code == 200
    finally:
        for token, expiry in before:
            database.write(partial(_set_expiry, token=token, expiry=expiry))


def _set_expiry(db: Connection, token: int, expiry: str | None) -> None:
    db.update(access_tokens, token, expires_at=expiry)


def _all_expiries(db: Connection) -> list[tuple[int, str | None]]:
    """Return the expiry of each token, because all tests share the tokens of the instance."""
    return [(token, expiry) for token, expiry in db.rows(select(access_tokens.c.id, access_tokens.c.expires_at))]
