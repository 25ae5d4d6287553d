"""Rules shared by SSH keys, GPG keys and secondary email addresses."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.api.users.gpg import gpg_key
from tests.client import Api, Make, User
from tests.factories import statements_of
from tests.ssh_public_keys import ed25519_line

HUGE = 10**20


class Kind(NamedTuple):
    """A kind of object that users own several of."""

    path: str
    name: str
    """Name in error messages."""
    sent: Callable[[Make], dict[str, Any]]
    """Returns the parameters of a new object."""
    seen_by_all: bool = False
    """Whether all signed-in users may see other users' objects."""
    gone: int = 404
    """Status for administrators who delete a missing object."""

    def add(self, api: Api, make: Make, person: User) -> int:
        added = api.post(f"/user/{self.path}", person, **self.sent(make))
        assert added.status_code == 201, added.text
        number: int = added.json()["id"]
        return number

    def of(self, api: Api, person: User) -> list[int]:
        return [each["id"] for each in api.get(f"/user/{self.path}", person).json()]


KINDS = [
    Kind("keys", "Key", lambda _: {"title": "laptop", "key": ed25519_line()}),
    Kind("gpg_keys", "GPG Key", lambda _: {"key": gpg_key()}, seen_by_all=True, gone=200),
    Kind("emails", "Email", lambda make: {"email": f"{make.name()}@example.org"}),
]
pytestmark = pytest.mark.parametrize("kind", KINDS, ids=[kind.path for kind in KINDS])


@pytest.mark.parametrize("who", ["nobody", "stranger", "owner", "administrator"])
def test_permissions_on_objects_of_a_user(api: Api, make: Make, kind: Kind, who: str) -> None:
    owner = make.user()
    number = kind.add(api, make, owner)
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "administrator": make.root}[who]
    path = f"/users/{owner.id}/{kind.path}"
    refused = {"nobody": 401, "administrator": None}.get(who, 403)
    reads = 200 if kind.seen_by_all and caller else refused or 200

    assert api.get(path, caller).status_code == reads
    assert api.get(f"{path}/{number}", caller).status_code == reads
    assert api.post(path, caller, **kind.sent(make)).status_code == (refused or 201)
    assert api.delete(f"{path}/{number}", caller).status_code == (refused or 200)
    assert (number in kind.of(api, owner)) == (who != "administrator")
    assert len(kind.of(api, owner)) == 1


def test_authentication_is_required(api: Api, make: Make, kind: Kind) -> None:
    number = kind.add(api, make, make.user())
    for method, path in [("GET", ""), ("GET", f"/{number}"), ("POST", ""), ("DELETE", f"/{number}")]:
        assert api.request(method, f"/user/{kind.path}{path}").status_code == 401


def test_objects_of_other_users_are_not_found(api: Api, make: Make, kind: Kind) -> None:
    owner, other = make.user(), make.user()
    number = kind.add(api, make, owner)
    none = (404, {"message": f"404 {kind.name} Not Found"})

    # Also for an administrator who names the wrong user.
    for path, caller in ((f"/user/{kind.path}", other), (f"/users/{other.id}/{kind.path}", make.root)):
        read = api.get(f"{path}/{number}", caller)
        assert (read.status_code, read.json()) == none
    assert api.delete(f"/user/{kind.path}/{number}", other).status_code == 200
    removed = api.delete(f"/users/{other.id}/{kind.path}/{number}", make.root)
    assert removed.status_code == kind.gone
    assert kind.gone == 200 or (removed.status_code, removed.json()) == none
    assert kind.of(api, owner) == [number]


def test_deleting_twice(api: Api, make: Make, kind: Kind) -> None:
    user = make.user()
    own, others = (kind.add(api, make, user) for _ in range(2))

    assert [api.delete(f"/user/{kind.path}/{own}", user).status_code for _ in range(2)] == [200, 200]
    path = f"/users/{user.id}/{kind.path}/{others}"
    assert [api.delete(path, make.root).status_code for _ in range(2)] == [200, kind.gone]
    assert kind.of(api, user) == []


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_missing_users(api: Api, make: Make, kind: Kind, method: str) -> None:
    path = f"/users/987654321/{kind.path}" + ("/1" if method == "DELETE" else "")
    answer = api.request(method, path, make.root, **({"json": kind.sent(make)} if method == "POST" else {}))
    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


def test_deleted_values_are_available_at_once(api: Api, make: Make, kind: Kind) -> None:
    user, leaver, heir = make.user(), make.user(), make.user()
    removed, left = kind.sent(make), kind.sent(make)
    number = api.post(f"/user/{kind.path}", user, **removed).json()["id"]
    api.delete(f"/user/{kind.path}/{number}", user)
    assert api.post(f"/user/{kind.path}", leaver, **left).status_code == 201
    assert api.delete(f"/users/{leaver.id}", make.root).status_code == 200

    taken = [api.post(f"/user/{kind.path}", heir, **sent) for sent in (removed, left)]
    assert [answer.status_code for answer in taken] == [201, 201]
    assert kind.of(api, heir) == [answer.json()["id"] for answer in taken]


@pytest.mark.parametrize(("number", "status"), [("abc", 400), ("-1", 400), ("1.5", 400), (HUGE, 400), (2**63 - 1, 404)])
def test_missing_ids(api: Api, make: Make, kind: Kind, number: Any, status: int) -> None:
    user = make.user()
    assert api.get(f"/user/{kind.path}/{number}", user).status_code == status
    assert api.delete(f"/user/{kind.path}/{number}", user).status_code == (400 if status == 400 else 200)
    path = f"/users/{user.id}/{kind.path}/{number}"
    assert api.get(path, make.root).status_code == status
    assert api.delete(path, make.root).status_code == (400 if status == 400 else kind.gone)
    # An id of the wrong type is rejected before the lookup of the user.
    for method in ("GET", "DELETE"):
        assert api.request(method, f"/users/{HUGE}/{kind.path}/{number}", make.root).status_code == status


def test_pages(api: Api, make: Make, kind: Kind) -> None:
    user = make.user()
    added = [kind.add(api, make, user) for _ in range(3)]

    for path, caller in ((f"/user/{kind.path}", user), (f"/users/{user.id}/{kind.path}", make.root)):
        page = api.get(path, caller, per_page=2, page=2)
        assert [each["id"] for each in page.json()] == added[2:]
        assert (page.headers["x-total"], page.headers["x-total-pages"]) == ("3", "2")


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make, kind: Kind) -> None:
    user = make.user()
    kind.add(api, make, user)
    short = statements_of(make, lambda: api.get(f"/user/{kind.path}", user))
    for _ in range(5):
        kind.add(api, make, user)
    assert statements_of(make, lambda: api.get(f"/user/{kind.path}", user)) == short


def test_a_token_with_the_read_user_scope_is_read_only(api: Api, make: Make, kind: Kind) -> None:
    user = make.user()
    reader = user.with_token(make.token(user.id, "read_user"))
    number = kind.add(api, make, user)

    assert api.get(f"/user/{kind.path}", reader).status_code == 200
    assert api.get(f"/user/{kind.path}/{number}", reader).status_code == 200
    assert api.post(f"/user/{kind.path}", reader, **kind.sent(make)).status_code == 403
    assert api.delete(f"/user/{kind.path}/{number}", reader).status_code == 403
    assert kind.of(api, user) == [number]
