"""Listing users: visible fields by caller, and every filter."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import Api, Make, User

BRIEF = {"id", "username", "name", "state", "avatar_url", "web_url"}


def _found(api: Api, caller: User, **params: Any) -> set[int]:
    answer = api.get("/users", caller, per_page=100, **params)
    assert answer.status_code == 200, answer.text
    return {each["id"] for each in answer.json()}


@pytest.mark.parametrize(("who", "status", "full"), [("nobody", 401, None), ("user", 200, False), ("admin", 200, True)])
def test_users_list_active_users_and_administrators_all(
    api: Api, make: Make, who: str, status: int, full: bool | None
) -> None:
    caller = {"nobody": None, "user": make.user(), "admin": make.root}[who]

    answer = api.get("/users", caller)

    assert answer.status_code == status
    if full is not None:
        assert all(("email" in each and "is_admin" in each) is full for each in answer.json())
        assert full or all(set(each) == BRIEF for each in answer.json())


@pytest.mark.parametrize("caller", ["user", "admin"])
def test_exact_username_ignoring_case(api: Api, make: Make, caller: str) -> None:
    user = make.user(username=make.name("Exact"))
    asks = make.user() if caller == "user" else make.root

    assert _found(api, asks, username=user.username) == {user.id}
    assert _found(api, asks, username=user.username.upper()) == {user.id}
    assert _found(api, asks, username=user.username[:-1]) == set()
    assert _found(api, asks, username="no-such-user") == set()


SEARCHES = [
    ("part of the username", "{middle}", True, True),
    ("part of the name", "ünïque", True, True),
    ("the whole address", "{email}", True, True),
    ("part of the address", "{part}", False, True),
    ("a sign that stands for many elsewhere", "%", False, False),
    ("a sign that stands for one elsewhere", "_________", False, False),
    ("nothing like it", "{middle}x", False, False),
]


@pytest.mark.parametrize(("what", "term", "for_users", "for_administrators"), SEARCHES)
def test_search_matches_names_and_addresses(
    api: Api, make: Make, what: str, term: str, for_users: bool, for_administrators: bool
) -> None:
    """Attack: guess an email address letter by letter; only administrators find by a part of it."""
    user = make.user(name=f"ÜnÏque {make.name()}")
    searched = term.format(middle=user.username.upper()[1:], email=user.email.upper(), part=user.email[:-1])

    assert (user.id in _found(api, make.user(), search=searched)) is for_users
    assert (user.id in _found(api, make.root, search=searched)) is for_administrators


FILTERS: list[tuple[dict[str, str], dict[str, bool]]] = [
    ({}, {"active": True, "blocked": True, "external": True}),
    ({"active": "true"}, {"active": True, "blocked": False, "external": True}),
    ({"blocked": "true"}, {"active": False, "blocked": True, "external": False}),
    ({"external": "true"}, {"active": False, "blocked": False, "external": True}),
    ({"active": "false"}, {"active": True, "blocked": True, "external": True}),
    ({"blocked": "false"}, {"active": True, "blocked": True, "external": True}),
    ({"external": "false"}, {"active": True, "blocked": True, "external": True}),
    ({"active": "true", "blocked": "true"}, {"active": False, "blocked": False, "external": False}),
    ({"exclude_external": "true"}, {"active": True, "blocked": True, "external": False}),
]


@pytest.mark.parametrize(("params", "expected"), FILTERS)
def test_state_filters_apply_if_true(api: Api, make: Make, params: dict[str, str], expected: dict[str, bool]) -> None:
    stem = make.name("filtered")
    made = {kind: make.user(username=f"{stem}-{kind}", external=kind == "external") for kind in expected}
    api.post(f"/users/{made['blocked'].id}/block", make.root)

    found = _found(api, make.root, search=stem, **params)

    assert {kind: user.id in found for kind, user in made.items()} == expected


def test_external_users_are_filtered_by_administrators_only(api: Api, make: Make) -> None:
    external, user = make.user(external=True), make.user()

    assert external.id in _found(api, make.root, username=external.username)
    assert external.id not in _found(api, user, username=external.username)
    refused = api.get("/users", user, external="true")
    assert (refused.status_code, refused.json()) == (403, {"message": "403 Forbidden"})


def test_filter_by_identity(api: Api, make: Make) -> None:
    uid = make.name("uid")
    user = make.user(provider="github", extern_uid=uid)

    assert _found(api, make.root, provider="github", extern_uid=uid) == {user.id}
    assert _found(api, make.root, provider="ldapmain", extern_uid=uid) == set()
    assert api.get("/users", make.user(), provider="github", extern_uid=uid).status_code == 403
    for alone, missing in ({"provider": "x"}, "extern_uid"), ({"extern_uid": "x"}, "provider"):
        refused = api.get("/users", make.root, **alone)
        assert (refused.status_code, refused.json()) == (400, {"message": f'400 (Bad request) "{missing}" not given'})


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"created_before": "2000-01-01"}, False),
        ({"created_after": "2000-01-01"}, True),
        ({"created_before": "9000-01-01T00:00:00Z"}, True),
        ({"created_after": "9000-01-01T00:00:00+02:00"}, False),
        ({"created_after": "2000-01-01T00:00:00.060Z", "created_before": "9000-01-02T00:00:00.060Z"}, True),
    ],
)
def test_filter_by_date(api: Api, make: Make, params: dict[str, str], found: bool) -> None:
    user = make.user()

    assert (user.id in _found(api, make.root, username=user.username, **params)) is found


def test_dates_are_inclusive(api: Api, make: Make) -> None:
    user = make.user()
    created_at = api.get(f"/users/{user.id}", make.root).json()["created_at"]

    assert _found(api, make.root, username=user.username, created_before=created_at, created_after=created_at)


@pytest.mark.parametrize("sort", ["asc", "desc"])
@pytest.mark.parametrize("order_by", ["id", "name", "username", "created_at"])
def test_order(api: Api, make: Make, order_by: str, sort: str) -> None:
    stem = make.name("ordered")
    for letter in "bAc":
        make.user(username=f"{stem}-{letter}", name=f"{letter} {stem}")

    listed = api.get("/users", make.root, search=stem, order_by=order_by, sort=sort).json()

    values = [str(each[order_by]).lower() if order_by != "id" else each["id"] for each in listed]
    assert len(values) == 3
    assert values == sorted(values, reverse=sort == "desc")


def test_newest_first_by_default(api: Api, make: Make) -> None:
    users = [make.user() for _ in range(2)]

    listed = [each["id"] for each in api.get("/users", make.root, per_page=2).json()]

    assert listed == [user.id for user in reversed(users)]


@pytest.fixture
def public_is_restricted(api: Api, make: Make) -> Iterator[None]:
    """Restrict public visibility."""
    before = api.get("/application/settings", make.root).json()["restricted_visibility_levels"]
    api.put("/application/settings", make.root, restricted_visibility_levels=["public"])
    yield
    api.put("/application/settings", make.root, restricted_visibility_levels=before)


@pytest.mark.usefixtures("public_is_restricted")
@pytest.mark.parametrize(("who", "status"), [("user", 403), ("admin", 200)])
def test_users_are_listed_for_administrators_only_if_public_is_restricted(
    api: Api, make: Make, who: str, status: int
) -> None:
    caller = make.user() if who == "user" else make.root

    assert api.get("/users", caller).status_code == status
