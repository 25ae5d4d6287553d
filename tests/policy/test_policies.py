"""Policy rules as tables of cases without a database, and their agreement with the SQL conditions."""

from typing import Any

import pytest

from ingot.accounts.tokens.policy import may_manage_token
from ingot.accounts.tokens.tables import AccessToken
from ingot.accounts.users.policy import may_follow_user, may_modify_user, may_see_user
from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.levels import NO_ACCESS
from ingot.core.access.rules import administrators, anyone, require, signed_in
from ingot.core.access.scopes import ANY_SCOPE, READ_SCOPES, READ_USER_SCOPES, WRITE_SCOPES, has_any_scope
from ingot.core.db.times import Timestamp
from ingot.core.errors import Denied

ANN, BOB = Actor(user_id=1, username="ann"), Actor(user_id=2, username="bob")
EVE = Actor(user_id=3, username="eve", external=True)
ROOT = Actor(user_id=4, username="root", admin=True)
BOT = Actor(user_id=5, username="project_1_bot", external=True, bot=True)


def _user(user_id: int, **columns: Any) -> User:
    empty: dict[str, Any] = dict.fromkeys(User.__struct_fields__)
    return User(**{**empty, "id": user_id, "state": "active", "placeholder": False, **columns})


def _token(user_id: int) -> AccessToken:
    empty: dict[str, Any] = dict.fromkeys(AccessToken.__struct_fields__)
    return AccessToken(**{**empty, "id": 1, "user_id": user_id, "kind": "personal", "scopes": "api", "revoked": False})


@pytest.mark.parametrize(
    ("actor", "open_to_all", "to_users", "to_administrators"),
    [(ANONYMOUS, True, False, False), (ANN, True, True, False), (EVE, True, True, False), (ROOT, True, True, True)],
)
def test_rules_on_the_caller(actor: Actor, open_to_all: bool, to_users: bool, to_administrators: bool) -> None:
    assert (anyone(actor), signed_in(actor), administrators(actor)) == (open_to_all, to_users, to_administrators)


def test_require_raises_with_its_reason() -> None:
    require(True, "never said")
    with pytest.raises(Denied) as stopped:
        require(False, "The reason")
    assert stopped.value.reason == "The reason"


@pytest.mark.parametrize(
    ("scopes", "reading", "reading_users", "writing", "anything"),
    [
        (None, True, True, True, True),
        (set(), False, False, False, False),
        ({"api"}, True, True, True, True),
        ({"read_api"}, True, True, False, True),
        ({"read_user"}, False, True, False, True),
        ({"sudo"}, False, False, False, True),
        ({"read_repository"}, False, False, False, True),
        ({"write_repository"}, False, False, False, True),
        ({"read_user", "read_repository"}, False, True, False, True),
        ({"unheard_of"}, False, False, False, False),
    ],
)
def test_routes_of_scopes(
    scopes: set[str] | None, reading: bool, reading_users: bool, writing: bool, anything: bool
) -> None:
    actor = Actor(user_id=1, admin=True, scopes=None if scopes is None else frozenset(scopes))

    reached = [has_any_scope(actor, needed) for needed in (READ_SCOPES, READ_USER_SCOPES, WRITE_SCOPES, ANY_SCOPE)]

    assert reached == [reading, reading_users, writing, anything]


@pytest.mark.parametrize(
    ("actor", "user", "sees", "follows", "modifies"),
    [
        (ANONYMOUS, _user(1), False, False, False),
        (ANN, _user(1), True, False, False),
        (ANN, _user(2), True, True, False),
        (EVE, _user(1), True, True, False),
        (ROOT, _user(1), True, True, True),
        (ROOT, _user(4), True, False, True),
        (ROOT, _user(9, placeholder=True), True, True, False),
        (ANN, _user(2, state="blocked"), True, True, False),
        (BOT, _user(1), True, False, False),
    ],
)
def test_users(actor: Actor, user: User, sees: bool, follows: bool, modifies: bool) -> None:
    rules = (may_see_user, may_follow_user, may_modify_user)

    assert [rule(actor, NO_ACCESS, user) for rule in rules] == [sees, follows, modifies]


@pytest.mark.parametrize(
    ("actor", "owner", "may"),
    [(ANONYMOUS, 1, False), (ANN, 1, True), (BOB, 1, False), (ROOT, 1, True), (ROOT, 4, True)],
)
def test_tokens(actor: Actor, owner: int, may: bool) -> None:
    assert may_manage_token(actor, NO_ACCESS, _token(owner)) is may


@pytest.mark.parametrize(
    ("revoked", "expires_at", "active"),
    [
        (False, None, True),
        (True, None, False),
        (False, "2026-01-02T00:00:00.000Z", True),
        (False, "2026-01-01T00:00:00.000Z", False),
        (False, "2025-12-31T00:00:00.000Z", False),
        (True, "2026-01-02T00:00:00.000Z", False),
    ],
)
def test_active_tokens(revoked: bool, expires_at: str | None, active: bool) -> None:
    empty: dict[str, Any] = dict.fromkeys(AccessToken.__struct_fields__)
    token = AccessToken(**{**empty, "revoked": revoked, "expires_at": expires_at})

    assert token.active(Timestamp("2026-01-01T00:00:00.000Z")) is active
