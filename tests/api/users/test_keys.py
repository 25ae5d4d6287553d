"""SSH keys: whose they are, who may touch them, and how they are found."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.client import Api, Make, Person
from tests.ssh_lines import (
    SK_ECDSA,
    SK_ED25519,
    blob_of,
    ecdsa_line,
    ed25519_line,
    line_of,
    point,
    raw_ed25519,
    rsa_line,
    sha256_of,
)

HUGE = 10**20


def _add(api: Api, person: Person, line: str = "") -> int:
    added = api.post("/user/keys", person, title="laptop", key=line or ed25519_line())
    assert added.status_code == 201, added.text
    key_id: int = added.json()["id"]
    return key_id


def _titles(api: Api, person: Person) -> list[str]:
    return [each["title"] for each in api.get("/user/keys", person).json()]


def test_a_key_is_added_listed_read_and_removed(api: Api, make: Make) -> None:
    user = make.user()
    line = f"{ed25519_line()} ada@laptop"

    added = api.post("/user/keys", user, title=" My laptop ", key=f"\n {line}\n")

    assert added.status_code == 201
    key = added.json()
    assert set(key) == {"id", "title", "key", "created_at", "expires_at", "usage_type", "can_push"}
    assert (key["title"], key["key"], key["expires_at"]) == ("My laptop", line, None)
    assert (key["usage_type"], key["can_push"]) == ("auth_and_signing", False)
    assert api.get("/user/keys", user).json() == [key]
    assert api.get(f"/user/keys/{key['id']}", user).json() == key
    assert api.get(f"/users/{user.id}/keys", make.root).json() == [key]
    assert api.get(f"/users/{user.id}/keys/{key['id']}", make.root).json() == key
    removed = api.delete(f"/user/keys/{key['id']}", user)
    assert (removed.status_code, removed.content) == (200, b"")
    assert api.get("/user/keys", user).json() == []


KINDS: list[tuple[str, Callable[[], str]]] = [
    ("ssh-rsa", lambda: rsa_line(2048)),
    ("ssh-rsa", lambda: rsa_line(3072)),
    ("ssh-ed25519", ed25519_line),
    ("ecdsa-sha2-nistp256", lambda: ecdsa_line(ec.SECP256R1())),
    ("ecdsa-sha2-nistp384", lambda: ecdsa_line(ec.SECP384R1())),
    ("ecdsa-sha2-nistp521", lambda: ecdsa_line(ec.SECP521R1())),
    (SK_ED25519, lambda: line_of(SK_ED25519, raw_ed25519(), b"ssh:")),
    (SK_ECDSA, lambda: line_of(SK_ECDSA, b"nistp256", point(), b"ssh:work")),
]


@pytest.mark.parametrize(("kind", "generate"), KINDS)
def test_every_kind_of_key(api: Api, make: Make, kind: str, generate: Callable[[], str]) -> None:
    user = make.user()
    line = generate()
    assert line.startswith(f"{kind} ")

    key_id = _add(api, user, line)

    assert api.get(f"/user/keys/{key_id}", user).json()["key"] == line
    assert api.get("/keys", make.root, fingerprint=sha256_of(line)).json()["id"] == key_id


WHO = [
    ("nobody", 401, 401, 401, 401),
    ("stranger", 403, 403, 403, 403),
    ("owner", 403, 403, 403, 403),
    ("administrator", 200, 200, 201, 200),
]


@pytest.mark.parametrize(("who", "lists", "reads", "adds", "removes"), WHO)
def test_only_administrators_reach_the_keys_of_a_user(
    api: Api, make: Make, who: str, lists: int, reads: int, adds: int, removes: int
) -> None:
    owner = make.user()
    line = ed25519_line()
    key_id = _add(api, owner, line)
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "administrator": make.root}[who]
    path = f"/users/{owner.id}/keys"

    assert api.get(path, caller).status_code == lists
    assert api.get(f"{path}/{key_id}", caller).status_code == reads
    assert api.get(f"/keys/{key_id}", caller).status_code == reads
    assert api.get("/keys", caller, fingerprint=sha256_of(line)).status_code == reads
    assert api.post(path, caller, title="desk", key=ed25519_line()).status_code == adds
    assert api.delete(f"{path}/{key_id}", caller).status_code == removes
    assert _titles(api, owner) == (["desk"] if who == "administrator" else ["laptop"])


def test_strangers_without_a_token_get_nowhere(api: Api, make: Make) -> None:
    key_id = _add(api, make.user())
    for method, path in [("GET", ""), ("GET", f"/{key_id}"), ("POST", ""), ("DELETE", f"/{key_id}")]:
        assert api.request(method, f"/user/keys{path}").status_code == 401


def test_the_key_of_somebody_else_looks_like_none(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    key_id = _add(api, owner)

    read = api.get(f"/user/keys/{key_id}", other)
    assert (read.status_code, read.json()) == (404, {"message": "404 Key Not Found"})
    assert api.delete(f"/user/keys/{key_id}", other).status_code == 200
    # An administrator who names the wrong user means another key.
    for method in ("GET", "DELETE"):
        answer = api.request(method, f"/users/{other.id}/keys/{key_id}", make.root)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Key Not Found"})
    assert _titles(api, owner) == ["laptop"]


def test_removing_twice(api: Api, make: Make) -> None:
    user = make.user()
    own, others = _add(api, user), _add(api, user)

    assert [api.delete(f"/user/keys/{own}", user).status_code for _ in range(2)] == [200, 200]
    path = f"/users/{user.id}/keys/{others}"
    assert [api.delete(path, make.root).status_code for _ in range(2)] == [200, 404]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_user_who_is_not_there(api: Api, make: Make, method: str) -> None:
    path = "/users/987654321/keys" + ("/1" if method == "DELETE" else "")
    sent = {"json": {"title": "laptop", "key": ed25519_line()}} if method == "POST" else {}
    answer = api.request(method, path, make.root, **sent)
    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


def test_a_key_stands_for_one_user_only(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    line = rsa_line(2048)
    _add(api, owner, line)

    taken = {"message": {"fingerprint": ["has already been taken"]}}
    for caller, path in ((owner, "/user/keys"), (other, "/user/keys"), (make.root, f"/users/{other.id}/keys")):
        answer = api.post(path, caller, title="mine", key=f"{line} another comment")
        assert (answer.status_code, answer.json()) == (400, taken)
    assert _titles(api, other) == []


def test_a_removed_key_is_free_at_once(api: Api, make: Make) -> None:
    user, leaver, heir = make.user(), make.user(), make.user()
    removed, left = ed25519_line(), ed25519_line()
    api.delete(f"/user/keys/{_add(api, user, removed)}", user)
    _add(api, leaver, left)
    assert api.delete(f"/users/{leaver.id}", make.root).status_code == 200
    for line in (removed, left):
        _add(api, heir, line)


def test_a_key_and_its_user_by_number_and_fingerprint(api: Api, make: Make) -> None:
    user = make.user()
    line = ed25519_line()
    key_id = _add(api, user, line)
    md5 = hashlib.md5(blob_of(line)).digest()

    found = api.get(f"/keys/{key_id}", make.root).json()

    assert (found["id"], found["title"], found["key"]) == (key_id, "laptop", line)
    assert (found["user"]["id"], found["user"]["email"], found["user"]["is_admin"]) == (user.id, user.email, False)
    assert "private_token" not in found["user"]
    sha256 = sha256_of(line)
    for fingerprint in (sha256, sha256 + "=", md5.hex(":"), "MD5:" + md5.hex(":"), md5.hex(":").upper(), md5.hex()):
        assert api.get("/keys", make.root, fingerprint=fingerprint).json() == found
    # People who type an address forget to escape the plus sign.
    assert api.get(f"/keys?fingerprint={sha256}", make.root).json() == found


FINGERPRINTS = [
    ({}, 400),
    ({"fingerprint": ""}, 400),
    ({"fingerprint": "laptop"}, 400),
    ({"fingerprint": "SHA256:" + "A" * 42}, 400),
    ({"fingerprint": "SHA256:" + "A" * 43 + "' OR 1=1"}, 400),
    ({"fingerprint": "é" * 32}, 400),
    ({"fingerprint[]": "x"}, 400),
    ({"fingerprint": "SHA256:" + "A" * 43}, 404),
    ({"fingerprint": "MD5:" + "00:" * 15 + "00"}, 404),
    ({"fingerprint": "0" * 32}, 404),
]


@pytest.mark.parametrize(("sent", "status"), FINGERPRINTS)
def test_fingerprints_that_no_key_has(api: Api, make: Make, sent: dict[str, str], status: int) -> None:
    answer = api.get("/keys", make.root, **sent)
    assert answer.status_code == status
    if status == 404:
        assert answer.json() == {"message": "404 Key Not Found"}


def test_titles_and_comments_beyond_ascii_are_kept(api: Api, make: Make) -> None:
    user = make.user()
    title, line = "Rechner „Grün“ 🖥️ " + "é" * 200, f"{ed25519_line()}\tjürgen@büro 🗝️"
    added = api.post("/user/keys", user, title=title, key=line)
    assert added.status_code == 201
    assert (added.json()["title"], added.json()["key"]) == (title, line)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("2999-01-31", "2999-01-31T00:00:00.000Z"),
        ("2999-01-31T12:00:00+02:00", "2999-01-31T10:00:00.000Z"),
        ("2001-01-31T12:00:00.5Z", "2001-01-31T12:00:00.500Z"),
        (None, None),
    ],
)
def test_keys_may_run_out(api: Api, make: Make, sent: str | None, kept: str | None) -> None:
    user = make.user()
    added = api.post("/user/keys", user, title="laptop", key=ed25519_line(), expires_at=sent)
    assert (added.status_code, added.json()["expires_at"]) == (201, kept)
    assert api.get(f"/user/keys/{added.json()['id']}", user).json()["expires_at"] == kept


@pytest.mark.parametrize(("number", "status"), [("abc", 400), ("-1", 400), ("1.5", 400), (HUGE, 400), (2**63 - 1, 404)])
def test_numbers_that_no_key_has(api: Api, make: Make, number: Any, status: int) -> None:
    user = make.user()
    assert api.get(f"/user/keys/{number}", user).status_code == status
    assert api.get(f"/keys/{number}", make.root).status_code == status
    assert api.delete(f"/user/keys/{number}", user).status_code == (400 if status == 400 else 200)
    for method in ("GET", "DELETE"):
        assert api.request(method, f"/users/{user.id}/keys/{number}", make.root).status_code == status
        # What is ill-typed is said before who is missing.
        assert api.request(method, f"/users/{HUGE}/keys/{number}", make.root).status_code == status


def test_a_page_at_a_time(api: Api, make: Make) -> None:
    user = make.user()
    added = [_add(api, user) for _ in range(3)]

    for path, caller in (("/user/keys", user), (f"/users/{user.id}/keys", make.root)):
        page = api.get(path, caller, per_page=2, page=2)
        assert [each["id"] for each in page.json()] == added[2:]
        assert (page.headers["x-total"], page.headers["x-total-pages"]) == ("3", "2")


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make) -> None:
    user = make.user()

    def statements() -> int:
        before = make.database.statements.executed
        api.get("/user/keys", user)
        return make.database.statements.executed - before

    _add(api, user)
    # Once a second the server looks at its settings besides, so the least of several reads counts.
    short = min(statements() for _ in range(3))
    for _ in range(5):
        _add(api, user)
    assert min(statements() for _ in range(3)) == short


def test_a_token_for_reading_users_reads_and_no_more(api: Api, make: Make) -> None:
    user = make.user()
    reader = user.with_token(make.token(user.id, "read_user"))
    key_id = _add(api, user)

    assert api.get("/user/keys", reader).status_code == 200
    assert api.get(f"/user/keys/{key_id}", reader).status_code == 200
    assert api.post("/user/keys", reader, title="x", key=ed25519_line()).status_code == 403
    assert api.delete(f"/user/keys/{key_id}", reader).status_code == 403
    assert _titles(api, user) == ["laptop"]
