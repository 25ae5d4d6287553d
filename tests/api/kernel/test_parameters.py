"""Parameters: sources, spellings and validation errors."""

from typing import Any

import pytest

from tests.client import Api, Make, User


def _bio(api: Api, make: Make, user: User) -> str:
    bio: str = api.get(f"/users/{user.id}", make.root).json()["bio"]
    return bio


SOURCES: dict[str, dict[str, Any]] = {
    "query": {"params": {"bio": "Gärtner & Söhne"}},
    "form": {"data": {"bio": "Gärtner & Söhne"}},
    "multipart": {"files": {"bio": (None, "Gärtner & Söhne")}},
    "JSON": {"json": {"bio": "Gärtner & Söhne"}},
    "JSON with a charset": {
        "content": '{"bio": "Gärtner & Söhne"}'.encode(),
        "headers": {"Content-Type": "application/json; charset=utf-8"},
    },
    "a kind of JSON": {
        "content": '{"bio": "Gärtner & Söhne"}'.encode(),
        "headers": {"Content-Type": "application/vnd.api+json"},
    },
    "form without a type": {"content": b"bio=G%C3%A4rtner+%26+S%C3%B6hne"},
}


@pytest.mark.parametrize("way", SOURCES)
def test_every_source_of_a_parameter_is_equivalent(api: Api, make: Make, way: str) -> None:
    user = make.user()

    answer = api.request("PUT", f"/users/{user.id}", make.root, **SOURCES[way])

    assert (answer.status_code, _bio(api, make, user)) == (200, "Gärtner & Söhne")


@pytest.mark.parametrize(
    "body", [{"json": {"bio": "body"}}, {"data": {"bio": "body"}}, {"files": {"bio": (None, "body")}}]
)
def test_the_body_takes_precedence_over_the_query(api: Api, make: Make, body: dict[str, Any]) -> None:
    user = make.user()

    answer = api.request("PUT", f"/users/{user.id}", make.root, params={"bio": "query", "location": "query"}, **body)

    assert answer.status_code == 200
    assert (answer.json()["bio"], answer.json()["location"]) == ("body", "query")


def test_a_read_ignores_parameters_in_the_body(api: Api, make: Make) -> None:
    user = make.user()
    answer = api.request("GET", "/users", user, params={"username": user.username}, json={"username": "root"})

    assert [each["id"] for each in answer.json()] == [user.id]


ARRAYS: dict[str, dict[str, Any]] = {
    "name[] in a form": {"data": {"name": "x", "scopes[]": ["api", "read_user"]}},
    "name[] in the query": {"params": {"name": "x", "scopes[]": ["api", "read_user"]}},
    "name[0], name[1]": {"data": {"name": "x", "scopes[0]": "api", "scopes[1]": "read_user"}},
    "name[] in JSON": {"json": {"name": "x", "scopes[]": ["api", "read_user"]}},
    "a JSON array": {"json": {"name": "x", "scopes": ["api", "read_user"]}},
    "commas": {"data": {"name": "x", "scopes": "api,read_user"}},
    "name[] in multipart": {
        "files": [("name", (None, "x")), ("scopes[]", (None, "api")), ("scopes[]", (None, "read_user"))]
    },
}


@pytest.mark.parametrize("spelling", ARRAYS)
def test_every_spelling_of_an_array_is_equivalent(api: Api, make: Make, spelling: str) -> None:
    path = f"/users/{make.user().id}/impersonation_tokens"

    answer = api.request("POST", path, make.root, **ARRAYS[spelling])

    assert (answer.status_code, answer.json().get("scopes")) == (201, ["api", "read_user"]), answer.text


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        *[(word, True) for word in ("true", "1", "on", "yes", "TRUE", True, 1)],
        *[(word, False) for word in ("false", "0", "off", "no", False, 0)],
    ],
)
def test_spellings_of_booleans(api: Api, make: Make, sent: Any, kept: bool) -> None:
    user = make.user(external=not kept)

    answer = api.put(f"/users/{user.id}", make.root, external=sent)

    assert (answer.status_code, answer.json()["external"]) == (200, kept)


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [("bio", 12, "12"), ("bio", "", ""), ("bio", None, ""), ("projects_limit", "7", 7), ("projects_limit", " 7 ", 7)],
)
def test_numbers_texts_and_null_are_converted(api: Api, make: Make, field: str, value: Any, kept: Any) -> None:
    user = make.user(bio="Something")

    answer = api.put(f"/users/{user.id}", make.root, **{field: value})

    assert (answer.status_code, answer.json()[field]) == (200, kept)


INVALID: list[tuple[str, Any]] = [
    ("projects_limit", "many"),
    ("projects_limit", 1.5),
    ("projects_limit", "1e3"),
    ("projects_limit", 2**63),
    ("projects_limit", -(2**64)),
    ("projects_limit", "9" * 40),
    ("projects_limit", True),
    ("projects_limit", [1]),
    ("projects_limit", {"a": 1}),
    ("projects_limit", "٣٤"),
    ("bio", "a\0b"),
    ("bio", ["a"]),
    ("bio", {"a": "b"}),
    ("external", "perhaps"),
    ("external", 2),
    ("external", [True]),
    ("avatar", "not a file"),
    ("name", "a\0b"),
]


@pytest.mark.parametrize(("field", "value"), INVALID)
def test_an_invalid_parameter_is_named_and_changes_nothing(api: Api, make: Make, field: str, value: Any) -> None:
    user = make.user()
    before = api.get(f"/users/{user.id}", make.root).json()

    refused = api.put(f"/users/{user.id}", make.root, **{field: value, "location": "Elsewhere"})

    assert (refused.status_code, refused.json()) == (400, {"message": {field: ["is invalid"]}})
    assert api.get(f"/users/{user.id}", make.root).json() == before


def test_all_invalid_parameters_are_named(api: Api, make: Make) -> None:
    refused = api.put(f"/users/{make.user().id}", make.root, projects_limit="many", external="perhaps", bio="Fits")

    assert refused.json() == {"message": {"projects_limit": ["is invalid"], "external": ["is invalid"]}}


@pytest.mark.parametrize(
    ("sent", "missing"),
    [
        ({}, "email"),
        ({"email": "a@example.org"}, "username"),
        ({"email": "a@example.org", "username": "a"}, "name"),
        ({"email": None, "name": "A", "username": "a"}, "email"),
    ],
)
def test_the_first_missing_parameter_is_named(api: Api, make: Make, sent: dict[str, Any], missing: str) -> None:
    answer = api.post("/users", make.root, **sent)

    assert (answer.status_code, answer.json()) == (400, {"message": f'400 (Bad request) "{missing}" not given'})


@pytest.mark.parametrize("field", ["id", "state", "created_at", "private_token_of", "password_hash", "placeholder"])
def test_unknown_parameters_are_ignored(api: Api, make: Make, field: str) -> None:
    """Attack: mass assignment of columns that the endpoint does not declare."""
    user = make.user()
    before = api.get(f"/users/{user.id}", make.root).json()

    answer = api.put(f"/users/{user.id}", make.root, **{field: "1"})

    assert answer.status_code == 200
    assert api.get(f"/users/{user.id}", make.root).json() == before


@pytest.mark.parametrize(
    "query",
    [
        "search=%ff",
        "search=%C3%28",
        "search=%00",
        "search[a]=1",
        "search=" + "x" * 9000,
        "order_by=password_hash",
        "order_by[]=id",
        "sort=sideways",
        "created_after=yesterday",
        "created_after=2020-13-01",
        "created_after=20200101",
        "created_after=0001-01-01T00:00+14",
        "a" + "[b]" * 200 + "=1",
        "&".join(["a=1"] * 4000),
    ],
)
def test_an_invalid_query_gets_400(api: Api, make: Make, query: str) -> None:
    assert api.get(f"/users?{query}", make.root).status_code == 400


@pytest.mark.parametrize("query", ["&&&", "=", "=x", "[]=1", "a[=1", "a]=1", "a[b=1", "%5B%5D", "active=", "search="])
def test_parameters_without_a_name_are_ignored(api: Api, make: Make, query: str) -> None:
    assert api.get(f"/users?{query}", make.root).status_code == 200
