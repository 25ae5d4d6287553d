"""Rotation with a token that was already rotated, which revokes the token that replaced it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.api.access_tokens.test_access_tokens import PARAMS
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import day
from tests.roles import UsersByRole, group_with, project_with

KINDS = ["personal", "project", "group"]


class Tokens:
    """Tokens of one kind, of one user or one bot each."""

    def __init__(self, api: Api, make: Make, roles: UsersByRole, kind: str) -> None:
        self.api, self.kind = api, kind
        self.creator = make.root if kind == "personal" else roles.owner
        if kind == "personal":
            self.url, self.created_at = "/personal_access_tokens", f"/users/{roles.owner.id}/personal_access_tokens"
        else:
            parent = project_with(make, roles) if kind == "project" else group_with(make, roles)
            self.url = self.created_at = f"{parent.url}/access_tokens"

    def create(self) -> dict[str, Any]:
        made = self.api.post(self.created_at, self.creator, **PARAMS, expires_at="2099-01-01")
        assert made.status_code == 201, made.text
        return dict(made.json())

    def rotate(self, token: dict[str, Any], where: str = "self", **sent: Any) -> Any:
        return self.api.post(f"{self.url}/{where}/rotate", _holder(token), **sent)

    def rotated(self, token: dict[str, Any]) -> dict[str, Any]:
        answer = self.rotate(token, expires_at="2099-01-01")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def works(self, token: dict[str, Any]) -> bool:
        return self.api.get("/user", _holder(token)).status_code == 200


@pytest.fixture(params=KINDS)
def tokens(api: Api, make: Make, roles: UsersByRole, request: pytest.FixtureRequest) -> Tokens:
    return Tokens(api, make, roles, request.param)


def _holder(token: dict[str, Any]) -> User:
    return User(token["user_id"], "holder", "", token["token"])


@pytest.mark.parametrize("where", ["self", "id"])
def test_a_second_rotation_revokes_the_newest_token(
    tokens: Tokens, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    """Attack: a stolen token is rotated, by the thief or by the owner first; both lose their access."""
    first, other = tokens.create(), tokens.create()
    second = tokens.rotated(first)
    third = tokens.rotated(second)
    assert tokens.works(third)

    place = "self" if where == "self" else str(first["id"])
    refused = tokens.rotate(first, place)

    assert (refused.status_code, refused.json()) == (401, {"message": "401 Unauthorized"})
    assert not tokens.works(third) and tokens.works(other)
    listed = tokens.api.get(tokens.url, tokens.creator, revoked=True, per_page=100).json()
    assert [each["active"] for each in listed if each["id"] == third["id"]] == [False]
    (line,) = [record for record in caplog.records if record.getMessage() == "token reused"]
    assert vars(line)["fields"] == {"user": first["user_id"], "token": first["id"], "family": first["id"]}
    # The whole family ends: a further attempt finds nothing to revoke.
    assert tokens.rotate(second).status_code == 401
    assert [record.getMessage() for record in caplog.records].count("token reused") == 1


def test_other_uses_of_a_rotated_token_revoke_nothing(tokens: Tokens, roles: UsersByRole) -> None:
    """A program that was not updated yet may still send the old token, and an owner may request its rotation."""
    first = tokens.create()
    second = tokens.rotated(first)
    assert tokens.api.get(f"{tokens.url}/self", _holder(first)).status_code == 401
    assert tokens.api.post("/user/emails", _holder(first), email="a@example.org").status_code == 401
    assert tokens.api.delete(f"{tokens.url}/{second['id']}", _holder(first)).status_code == 401
    again = tokens.api.post(f"{tokens.url}/{first['id']}/rotate", roles.owner)
    assert again.status_code == 400
    assert tokens.works(second)

    # A token that was revoked without a rotation has no successors, and an unknown one belongs to no family.
    revoked = tokens.create()
    tokens.api.delete(f"{tokens.url}/{revoked['id']}", tokens.creator)
    assert tokens.rotate(revoked).status_code == 401
    assert tokens.rotate({**first, "token": "unknown"}).status_code == 401
    assert tokens.api.post(f"{tokens.url}/self/rotate").status_code == 401
    assert tokens.works(second)


def test_an_expired_token_revokes_nothing(tokens: Tokens, instance: Instance) -> None:
    """Attack: an old secret, found in a log, disables the tokens that are in use."""
    first = tokens.create()
    second = tokens.rotate(first, expires_at="2199-01-01").json()
    with day(instance, "2100-01-01"):
        assert tokens.rotate(first).status_code == 401
        assert tokens.works(second)


def test_concurrent_rotations_leave_one_active_token_at_most(tokens: Tokens) -> None:
    """A rotation that starts after another has ended is a reuse; one that started earlier is refused with 400.

    It is refused with 404 if a reuse has ended the membership of the bot meanwhile.
    """
    first = tokens.create()
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: tokens.rotate(first), range(6)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses[0] == 200 and set(statuses[1:]) <= ({400, 401, 404} if 401 in statuses else {400})
    (winner,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert tokens.works(winner) is (401 not in statuses)
