"""Secondary email addresses: owners, permissions and invalid addresses."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.factories import changed_settings


def _add(api: Api, person: User, address: str) -> int:
    added = api.post("/user/emails", person, email=address)
    assert added.status_code == 201, added.text
    email_id: int = added.json()["id"]
    return email_id


def _addresses(api: Api, person: User) -> list[str]:
    return [each["email"] for each in api.get("/user/emails", person).json()]


@pytest.fixture
def confirmation_required(api: Api, make: Make) -> Iterator[None]:
    """Require confirmation of email addresses."""
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


@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title], ids=["lower", "upper", "title"])
@pytest.mark.parametrize("whose", ["own first", "own further", "another's first", "another's further"])
def test_a_taken_address_is_rejected(api: Api, make: Make, whose: str, spelling: Any) -> None:
    user, other = make.user(), make.user()
    holder = user if whose.startswith("own") else other
    address = holder.email
    if whose.endswith("further"):
        address = f"{make.name()}@example.org"
        api.post(f"/users/{holder.id}/emails", make.root, email=address, skip_confirmation=True)

    for answer in (
        api.post("/user/emails", user, email=spelling(address)),
        api.post(f"/users/{user.id}/emails", make.root, email=spelling(address)),
    ):
        assert (answer.status_code, answer.json()) == (400, {"message": {"email": ["has already been taken"]}})
    assert _addresses(api, user) == ([address] if whose == "own further" else [])


def test_restricted_addresses_are_refused(api: Api, make: Make) -> None:
    user = make.user()
    restrictions = {"email_restrictions": r"@evil\.example$", "email_restrictions_enabled": True}
    with changed_settings(make, **restrictions):
        refused = api.post("/user/emails", user, email="a@Evil.example")
        assert (refused.status_code, refused.json()) == (400, {"message": {"email": ["is not allowed"]}})
        assert api.post(f"/users/{user.id}/emails", make.root, email="a@evil.example").status_code == 400
        vouched = {"email": f"{user.username}@evil.example", "skip_confirmation": True}
        assert api.post(f"/users/{user.id}/emails", make.root, **vouched).status_code == 201
    with changed_settings(make, domain_whitelist=["good.example"]):
        assert api.post("/user/emails", user, email=f"{user.username}@bad.example").status_code == 400
        assert api.post("/user/emails", user, email=f"{user.username}@good.example").status_code == 201


def test_a_secondary_address_is_taken_for_new_users(api: Api, make: Make) -> None:
    address = f"{make.name()}@example.org"
    api.post(f"/users/{make.user().id}/emails", make.root, email=address, skip_confirmation=True)
    name = make.name()
    made = api.post("/users", make.root, email=address, username=name, name=name, force_random_password=True)
    assert made.status_code == 409


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
def test_invalid_addresses_are_rejected(api: Api, make: Make, sent: Any, reason: str) -> None:
    user = make.user()
    for answer in (
        api.post("/user/emails", user, email=sent),
        api.post(f"/users/{user.id}/emails", make.root, email=sent),
    ):
        assert (answer.status_code, answer.json()) == (400, {"message": {"email": [reason]}})
    assert _addresses(api, user) == []


@pytest.mark.parametrize("sent", [{}, {"email": None}])
def test_the_address_is_required(api: Api, make: Make, sent: dict[str, Any]) -> None:
    answer = api.post("/user/emails", make.user(), **sent)
    assert (answer.status_code, answer.json()) == (400, {"message": '400 (Bad request) "email" not given'})


def test_non_ascii_addresses_are_stored(api: Api, make: Make) -> None:
    user = make.user()
    address = f"jürgen.{make.name()}@bücher.example"
    _add(api, user, address)
    assert _addresses(api, user) == [address]
    assert api.post("/user/emails", user, email=address.upper()).status_code == 400


def test_addresses_are_confirmed_by_default(api: Api, make: Make) -> None:
    user = make.user()
    added = api.post("/user/emails", user, email=f"{make.name()}@example.org").json()
    assert added["confirmed_at"] is not None


@pytest.mark.usefixtures("confirmation_required")
@pytest.mark.parametrize(
    ("by_administrator", "skip", "confirmed"),
    [(True, True, True), (True, False, False), (False, False, False), (False, True, False)],
)
def test_only_administrators_skip_confirmation(
    api: Api, make: Make, by_administrator: bool, skip: bool, confirmed: bool
) -> None:
    user = make.user()
    path, caller = (f"/users/{user.id}/emails", make.root) if by_administrator else ("/user/emails", user)
    added = api.post(path, caller, email=f"{make.name()}@example.org", skip_confirmation=skip)
    assert added.status_code == 201
    assert (added.json()["confirmed_at"] is not None) == confirmed


@pytest.mark.usefixtures("confirmation_required")
def test_confirmation_emails_of_a_user_are_limited(api: Api, make: Make) -> None:
    """Deleted addresses count; those that an administrator adds do not, nor do rejected ones."""
    user = make.user()
    statuses = []
    for _ in range(7):
        added = api.post("/user/emails", user, email=f"{make.name()}@example.org")
        statuses.append(added.status_code)
        if added.is_success:
            api.delete(f"/user/emails/{added.json()['id']}", user)
        assert api.post("/user/emails", user, email=user.email).status_code == 400
    assert statuses == [201] * 5 + [429] * 2
    assert added.headers["retry-after"].isdigit()
    assert _addresses(api, user) == []
    assert api.post(f"/users/{user.id}/emails", make.root, email=f"{make.name()}@example.org").status_code == 201
    assert api.post("/user/emails", make.user(), email=f"{make.name()}@example.org").status_code == 201
