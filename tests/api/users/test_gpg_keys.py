"""GPG keys: owners, permissions and invalid keys."""

import base64
from typing import Any

import pytest

from tests.api.users.gpg import (
    NAME,
    PUBLIC_KEY,
    SECRET_KEY,
    SECRET_SUBKEY,
    SUBKEY,
    armored,
    body,
    gpg_key,
    old_packet,
    packet,
)
from tests.client import Api, Make, User

# As exported by gpg 2.4: a primary key with a user id, a subkey and their signatures.
EXPORTED = """-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEavkbDxYJKwYBBAHaRw8BAQdA2G0ktRxC3r9kuvvJv6D5FH8Hdje1CwHpTNyj
CObZbfK0FUFkYSA8YWRhQGV4YW1wbGUub3JnPoiQBBMWCAA4FiEE4PIbZGyjlXre
bmhEQp73ZMTi8sMFAmr5Gw8CGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQ
Qp73ZMTi8sOjoAEA2vYEbSQssrGUewVVYBvbhn6LsecKpse1bb9gUIWZhX8BANZr
eKQee8ituvwdD4xCs2nsxcHU0tOmWAdBuB09nOsAuDgEavkbDxIKKwYBBAGXVQEF
AQEHQEIb0tCZb8bdQTBkP+huES+rzWP4KnZS22adKjnWPP0gAwEIB4h4BBgWCAAg
FiEE4PIbZGyjlXrebmhEQp73ZMTi8sMFAmr5Gw8CGwwACgkQQp73ZMTi8sPNtAEA
3DNcupvvUbW/TY02BgvQwaL0FERpgbznPj8uYzNOTdQBAMxezm4DiImEOEElsSB4
aHND1pDy/CLYDEUq7hm2wf8G
=26fp
-----END PGP PUBLIC KEY BLOCK-----"""


def _add(api: Api, person: User, key: str = "") -> int:
    added = api.post("/user/gpg_keys", person, key=key or gpg_key())
    assert added.status_code == 201, added.text
    key_id: int = added.json()["id"]
    return key_id


def _numbers(api: Api, person: User) -> list[int]:
    return [each["id"] for each in api.get("/user/gpg_keys", person).json()]


def test_a_key_is_added_listed_read_and_removed(api: Api, make: Make) -> None:
    user, reader = make.user(), make.user()

    added = api.post("/user/gpg_keys", user, key=f"\n{EXPORTED}\n")

    assert added.status_code == 201
    key = added.json()
    assert set(key) == {"id", "key", "created_at"}
    assert key["key"] == EXPORTED
    assert api.get("/user/gpg_keys", user).json() == [key]
    assert api.get(f"/user/gpg_keys/{key['id']}", user).json() == key
    assert api.get(f"/users/{user.id}/gpg_keys", reader).json() == [key]
    assert api.get(f"/users/{user.id}/gpg_keys/{key['id']}", reader).json() == key
    removed = api.delete(f"/user/gpg_keys/{key['id']}", user)
    assert (removed.status_code, removed.content) == (200, b"")
    assert api.get("/user/gpg_keys", user).json() == []


def test_a_key_belongs_to_one_user_in_every_encoding(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    mine = body()
    _add(api, owner, gpg_key(mine))

    taken = {"message": {"fingerprint": ["has already been taken"]}}
    again = [
        gpg_key(mine),
        armored(old_packet(PUBLIC_KEY, mine, 1), "Comment: another name and format\n"),
    ]
    for key in again:
        for caller, path in ((owner, "/user/gpg_keys"), (other, "/user/gpg_keys")):
            answer = api.post(path, caller, key=key)
            assert (answer.status_code, answer.json()) == (400, taken)
        answer = api.post(f"/users/{other.id}/gpg_keys", make.root, key=key)
        assert (answer.status_code, answer.json()) == (400, taken)
    assert _numbers(api, other) == []


VALID = {
    "version 6": gpg_key(body(6)),
    "old header": armored(old_packet(PUBLIC_KEY, body(), 0)),
    "old header, wide length": armored(old_packet(PUBLIC_KEY, body(), 2)),
    "two bytes of length": gpg_key(body(size=512)),
    "five bytes of length": gpg_key(body(size=9000)),
    "subkey": armored(packet(PUBLIC_KEY, body()) + packet(SUBKEY, body())),
    "headers": armored(packet(PUBLIC_KEY, body()), "Version: GnuPG v2\nComment: jürgen 🗝️\n"),
    "windows": gpg_key().replace("\n", "\r\n"),
    "wrong checksum, which is not to be trusted": gpg_key().replace("\n-----END", "\n=AAAA\n-----END"),
}


@pytest.mark.parametrize("key", VALID.values(), ids=VALID)
def test_every_encoding_of_a_key_is_accepted(api: Api, make: Make, key: str) -> None:
    user = make.user()
    key_id = _add(api, user, key)
    assert api.get(f"/user/gpg_keys/{key_id}", user).json()["key"] == key


def _broken() -> dict[str, str]:
    whole = packet(PUBLIC_KEY, body())
    return {
        "a word": "key",
        "an SSH key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKH2lyVQmOGqCNPQDy6bo/sZvecFlbALkwQlv8sxAsfW",
        "empty armor": armored(b""),
        "no armor": base64.b64encode(whole).decode(),
        "private armor": armored(whole, label="PRIVATE KEY BLOCK"),
        "signature": armored(whole, label="SIGNATURE"),
        "secret key in public armor": armored(packet(SECRET_KEY, body())),
        "secret key behind a public one": armored(whole + packet(SECRET_KEY, body())),
        "secret subkey": armored(whole + packet(SECRET_SUBKEY, body())),
        "two keys": armored(whole + packet(PUBLIC_KEY, body())),
        "two armors": f"{gpg_key()}\n{gpg_key()}",
        "text before": f"My key:\n{gpg_key()}",
        "text behind": f"{gpg_key()}\nYours",
        "name first": armored(packet(NAME, b"Ada") + whole),
        "cut off": armored(whole[:-1]),
        "trailing bytes": armored(whole + b"0"),
        "no packet": armored(b"\0" * 60),
        "length cut off": armored(b"\xc6\xff\0"),
        "no length": armored(b"\xc6"),
        "length left open": armored(old_packet(PUBLIC_KEY, body(), 3)),
        "partial length": armored(b"\xc6\xe5" + body()),
        "version 3": gpg_key(body(3)),
        "version 5": gpg_key(body(5)),
        "head alone": gpg_key(b"\4\0\0\0\1\x16"),
        "too long for a key": gpg_key(body(size=66_000)),
        "no base64": gpg_key().replace("\n\n", "\n\n!"),
        "base64 beyond ASCII": gpg_key().replace("\n\n", "\n\né"),
        "end missing": gpg_key().rpartition("\n")[0],
        "begin missing": gpg_key().partition("\n")[2],
    }


BROKEN = _broken()


@pytest.mark.parametrize("key", BROKEN.values(), ids=BROKEN)
def test_malformed_keys_are_rejected(api: Api, make: Make, key: str) -> None:
    user = make.user()
    for answer in (
        api.post("/user/gpg_keys", user, key=key),
        api.post(f"/users/{user.id}/gpg_keys", make.root, key=key),
    ):
        assert (answer.status_code, answer.json()) == (400, {"message": {"key": ["is invalid"]}})
    assert _numbers(api, user) == []


INVALID = [
    ("", "can't be blank"),
    (" \n ", "can't be blank"),
    ("x" * 100_001, "is too long (maximum is 100000 characters)"),
    (["x"], "is invalid"),
    ({"a": "x"}, "is invalid"),
    (7, "is invalid"),
    (True, "is invalid"),
    ("x\0y", "is invalid"),
]


@pytest.mark.parametrize(("sent", "reason"), INVALID, ids=lambda value: str(value)[:20])
def test_other_kinds_of_keys_are_rejected(api: Api, make: Make, sent: Any, reason: str) -> None:
    answer = api.post("/user/gpg_keys", make.user(), key=sent)
    assert (answer.status_code, answer.json()) == (400, {"message": {"key": [reason]}})


@pytest.mark.parametrize("sent", [{}, {"key": None}])
def test_the_key_is_required(api: Api, make: Make, sent: dict[str, Any]) -> None:
    answer = api.post("/user/gpg_keys", make.user(), **sent)
    assert (answer.status_code, answer.json()) == (400, {"message": '400 (Bad request) "key" not given'})
