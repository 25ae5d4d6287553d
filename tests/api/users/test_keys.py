"""SSH keys: owners, permissions and lookups."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.client import Api, Make, User
from tests.ssh_public_keys import (
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


def _add(api: Api, person: User, line: str = "") -> int:
    added = api.post("/user/keys", person, title="laptop", key=line or ed25519_line())
    assert added.status_code == 201, added.text
    key_id: int = added.json()["id"]
    return key_id


def _titles(api: Api, person: User) -> list[str]:
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


@pytest.mark.parametrize(
    ("who", "status"), [("nobody", 401), ("stranger", 403), ("owner", 403), ("administrator", 200)]
)
def test_only_administrators_find_a_key_without_its_user(api: Api, make: Make, who: str, status: int) -> None:
    owner = make.user()
    line = ed25519_line()
    key_id = _add(api, owner, line)
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "administrator": make.root}[who]

    assert api.get(f"/keys/{key_id}", caller).status_code == status
    assert api.get("/keys", caller, fingerprint=sha256_of(line)).status_code == status


def test_a_key_belongs_to_one_user(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    line = rsa_line(2048)
    _add(api, owner, line)

    taken = {"message": {"fingerprint": ["has already been taken"]}}
    for caller, path in ((owner, "/user/keys"), (other, "/user/keys"), (make.root, f"/users/{other.id}/keys")):
        answer = api.post(path, caller, title="mine", key=f"{line} another comment")
        assert (answer.status_code, answer.json()) == (400, taken)
    assert _titles(api, other) == []


def test_a_key_with_its_user_by_id_and_fingerprint(api: Api, make: Make) -> None:
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
    # Users often forget to encode the plus sign.
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
def test_unknown_fingerprints(api: Api, make: Make, sent: dict[str, str], status: int) -> None:
    answer = api.get("/keys", make.root, **sent)
    assert answer.status_code == status
    if status == 404:
        assert answer.json() == {"message": "404 Key Not Found"}


def test_non_ascii_titles_and_comments_are_stored(api: Api, make: Make) -> None:
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
def test_keys_may_expire(api: Api, make: Make, sent: str | None, kept: str | None) -> None:
    user = make.user()
    added = api.post("/user/keys", user, title="laptop", key=ed25519_line(), expires_at=sent)
    assert (added.status_code, added.json()["expires_at"]) == (201, kept)
    assert api.get(f"/user/keys/{added.json()['id']}", user).json()["expires_at"] == kept


@pytest.mark.parametrize(
    ("number", "status"), [("abc", 400), ("-1", 400), ("1.5", 400), (10**20, 400), (2**63 - 1, 404)]
)
def test_missing_keys(api: Api, make: Make, number: Any, status: int) -> None:
    assert api.get(f"/keys/{number}", make.root).status_code == status
