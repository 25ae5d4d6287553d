"""Further addresses: whose they are, who may touch them, and what is no address."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import Api, Make, Person

HUGE = 10**20


def _add(api: Api, person: Person, address: str) -> int:
    added = api.post("/user/emails", person, email=address)
    assert added.status_code == 201, added.text
    email_id: int = added.json()["id"]
    return email_id


def _addresses(api: Api, person: Person) -> list[str]:
    return [each["email"] for each in api.get("/user/emails", person).json()]


@pytest.fixture
def asks_to_confirm(api: Api, make: Make) -> Iterator[None]:
    """An instance that wants addresses confirmed."""
    changed = api.put("/application/settings", make.root, send_user_confirmation_email=True)
    assert changed.status_code == 200, changed.text
    yield
    api.put("/application/settings", make.root, send_user_confirmation_email=False)


def test_an_address_is_added_listed_read_and_removed(api: Api, make: Make) -> None:
    user = make.user()
    address = f"{make.name('Second')}@Example.ORG"

    added = api.post("/user/emails", user, email=f"  {address} ")

    assert added.status_code == 201
    assert set(added.json()) == {"id", "email", "confirmed_at"}
    assert added.json()["email"] == address.lower()
    email_id = added.json()["id"]
    assert api.get("/user/emails", user).json() == [added.json()]
    assert api.get(f"/user/emails/{email_id}", user).json() == added.json()
    assert api.get(f"/users/{user.id}/emails", make.root).json() == [added.json()]
    assert api.get(f"/users/{user.id}/emails/{email_id}", make.root).json() == added.json()
    removed = api.delete(f"/user/emails/{email_id}", user)
    assert (removed.status_code, removed.content) == (200, b"")
    assert api.get("/user/emails", user).json() == []


WHO = [
    ("nobody", 401, 401, 401, 401),
    ("stranger", 403, 403, 403, 403),
    ("owner", 403, 403, 403, 403),
    ("administrator", 200, 200, 201, 200),
]


@pytest.mark.parametrize(("who", "lists", "reads", "adds", "removes"), WHO)
def test_only_administrators_reach_the_addresses_of_a_user(
    api: Api, make: Make, who: str, lists: int, reads: int, adds: int, removes: int
) -> None:
    owner = make.user()
    email_id = _add(api, owner, f"{make.name()}@example.org")
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "administrator": make.root}[who]
    path = f"/users/{owner.id}/emails"

    assert api.get(path, caller).status_code == lists
    assert api.get(f"{path}/{email_id}", caller).status_code == reads
    assert api.post(path, caller, email=f"{make.name()}@example.org").status_code == adds
    assert api.delete(f"{path}/{email_id}", caller).status_code == removes
    assert len(_addresses(api, owner)) == 1


def test_strangers_without_a_token_get_nowhere(api: Api, make: Make) -> None:
    email_id = _add(api, make.user(), f"{make.name()}@example.org")
    for method, path in [("GET", ""), ("GET", f"/{email_id}"), ("POST", ""), ("DELETE", f"/{email_id}")]:
        assert api.request(method, f"/user/emails{path}").status_code == 401


def test_the_address_of_somebody_else_looks_like_none(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    email_id = _add(api, owner, f"{make.name()}@example.org")

    read = api.get(f"/user/emails/{email_id}", other)
    assert (read.status_code, read.json()) == (404, {"message": "404 Email Not Found"})
    assert api.delete(f"/user/emails/{email_id}", other).status_code == 200
    # An administrator who names the wrong user means another address.
    for method in ("GET", "DELETE"):
        answer = api.request(method, f"/users/{other.id}/emails/{email_id}", make.root)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Email Not Found"})
    assert len(_addresses(api, owner)) == 1


def test_removing_twice(api: Api, make: Make) -> None:
    user = make.user()
    own, others = (_add(api, user, f"{make.name()}@example.org") for _ in range(2))

    assert [api.delete(f"/user/emails/{own}", user).status_code for _ in range(2)] == [200, 200]
    path = f"/users/{user.id}/emails/{others}"
    assert [api.delete(path, make.root).status_code for _ in range(2)] == [200, 404]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_user_who_is_not_there(api: Api, make: Make, method: str) -> None:
    path = "/users/987654321/emails" + ("/1" if method == "DELETE" else "")
    answer = api.request(method, path, make.root, **({"json": {"email": "x@example.org"}} if method == "POST" else {}))
    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title], ids=["lower", "upper", "title"])
@pytest.mark.parametrize("whose", ["own first", "own further", "another's first", "another's further"])
def test_a_taken_address_stays_where_it_is(api: Api, make: Make, whose: str, spelling: Any) -> None:
    user, other = make.user(), make.user()
    holder = user if whose.startswith("own") else other
    address = holder.email
    if whose.endswith("further"):
        address = f"{make.name()}@example.org"
        _add(api, holder, address)

    for answer in (
        api.post("/user/emails", user, email=spelling(address)),
        api.post(f"/users/{user.id}/emails", make.root, email=spelling(address)),
    ):
        assert (answer.status_code, answer.json()) == (400, {"message": {"email": ["has already been taken"]}})
    assert _addresses(api, user) == ([address] if whose == "own further" else [])


def test_a_further_address_is_no_new_users_first_one(api: Api, make: Make) -> None:
    address = f"{make.name()}@example.org"
    _add(api, make.user(), address)
    name = make.name()
    made = api.post("/users", make.root, email=address, username=name, name=name, force_random_password=True)
    assert made.status_code == 409


def test_a_removed_address_is_free_at_once(api: Api, make: Make) -> None:
    user, leaver, heir = make.user(), make.user(), make.user()
    removed, left = (f"{make.name()}@example.org" for _ in range(2))
    api.delete(f"/user/emails/{_add(api, user, removed)}", user)
    _add(api, leaver, left)
    assert api.delete(f"/users/{leaver.id}", make.root).status_code == 200

    for address in (removed, left):
        _add(api, heir, address)
    assert _addresses(api, heir) == [removed, left]


REFUSED = [
    ("nobody", "is invalid"),
    ("@example.org", "is invalid"),
    ("a@", "is invalid"),
    ("a b@example.org", "is invalid"),
    ("a@b@example.org", "is invalid"),
    ("a@example.org\r\nBcc: b@example.org", "is invalid"),
    ("a@example.org\0", "is invalid"),
    ("<a@example.org>", "is invalid"),
    ("a" * 250 + "@example.org", "is invalid"),
    ("", "can't be blank"),
    ("  ", "can't be blank"),
    (["a@example.org"], "is invalid"),
    ({"a": "b@example.org"}, "is invalid"),
    (True, "is invalid"),
    (7, "is invalid"),
]


@pytest.mark.parametrize(("sent", "reason"), REFUSED)
def test_what_is_no_address(api: Api, make: Make, sent: Any, reason: str) -> None:
    user = make.user()
    for answer in (
        api.post("/user/emails", user, email=sent),
        api.post(f"/users/{user.id}/emails", make.root, email=sent),
    ):
        assert (answer.status_code, answer.json()) == (400, {"message": {"email": [reason]}})
    assert _addresses(api, user) == []


@pytest.mark.parametrize("sent", [{}, {"email": None}])
def test_the_address_must_be_given(api: Api, make: Make, sent: dict[str, Any]) -> None:
    answer = api.post("/user/emails", make.user(), **sent)
    assert (answer.status_code, answer.json()) == (400, {"message": '400 (Bad request) "email" not given'})


def test_addresses_beyond_ascii_are_kept(api: Api, make: Make) -> None:
    user = make.user()
    address = f"jürgen.{make.name()}@bücher.example"
    _add(api, user, address)
    assert _addresses(api, user) == [address]
    assert api.post("/user/emails", user, email=address.upper()).status_code == 400


@pytest.mark.parametrize(("number", "status"), [("abc", 400), ("-1", 400), ("1.5", 400), (HUGE, 400), (2**63 - 1, 404)])
def test_numbers_that_no_address_has(api: Api, make: Make, number: Any, status: int) -> None:
    user = make.user()
    assert api.get(f"/user/emails/{number}", user).status_code == status
    assert api.delete(f"/user/emails/{number}", user).status_code == (400 if status == 400 else 200)
    for method in ("GET", "DELETE"):
        assert api.request(method, f"/users/{user.id}/emails/{number}", make.root).status_code == status
        # What is ill-typed is said before who is missing.
        assert api.request(method, f"/users/{HUGE}/emails/{number}", make.root).status_code == status


def test_a_page_at_a_time(api: Api, make: Make) -> None:
    user = make.user()
    added = [_add(api, user, f"{make.name()}@example.org") for _ in range(3)]

    for path, caller in (("/user/emails", user), (f"/users/{user.id}/emails", make.root)):
        page = api.get(path, caller, per_page=2, page=2)
        assert [each["id"] for each in page.json()] == added[2:]
        assert (page.headers["x-total"], page.headers["x-total-pages"]) == ("3", "2")


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make) -> None:
    user = make.user()

    def statements() -> int:
        before = make.database.statements.executed
        api.get("/user/emails", user)
        return make.database.statements.executed - before

    _add(api, user, f"{make.name()}@example.org")
    # Once a second the server looks at its settings besides, so the least of several reads counts.
    short = min(statements() for _ in range(3))
    for _ in range(5):
        _add(api, user, f"{make.name()}@example.org")
    assert min(statements() for _ in range(3)) == short


def test_a_token_for_reading_users_reads_and_no_more(api: Api, make: Make) -> None:
    user = make.user()
    reader = user.with_token(make.token(user.id, "read_user"))
    email_id = _add(api, user, f"{make.name()}@example.org")

    assert api.get("/user/emails", reader).status_code == 200
    assert api.get(f"/user/emails/{email_id}", reader).status_code == 200
    assert api.post("/user/emails", reader, email=f"{make.name()}@example.org").status_code == 403
    assert api.delete(f"/user/emails/{email_id}", reader).status_code == 403
    assert len(_addresses(api, user)) == 1


def test_nobody_confirms_where_nobody_asks(api: Api, make: Make) -> None:
    user = make.user()
    added = api.post("/user/emails", user, email=f"{make.name()}@example.org").json()
    assert added["confirmed_at"] is not None


@pytest.mark.usefixtures("asks_to_confirm")
@pytest.mark.parametrize(
    ("by_administrator", "skip", "confirmed"),
    [(True, True, True), (True, False, False), (False, False, False), (False, True, False)],
)
def test_only_an_administrator_vouches_for_an_address(
    api: Api, make: Make, by_administrator: bool, skip: bool, confirmed: bool
) -> None:
    user = make.user()
    path, caller = (f"/users/{user.id}/emails", make.root) if by_administrator else ("/user/emails", user)
    added = api.post(path, caller, email=f"{make.name()}@example.org", skip_confirmation=skip)
    assert added.status_code == 201
    assert (added.json()["confirmed_at"] is not None) == confirmed
