"""GPG keys: whose they are, who may touch them, and what is no key."""

import base64
import secrets
from typing import Any

import pytest

from tests.client import Api, Make, Person

HUGE = 10**20
PUBLIC_KEY, SECRET_KEY, SECRET_SUBKEY, NAME, SUBKEY = 6, 5, 7, 13, 14

# As gpg 2.4 exports it: a primary key with a name, a subkey and their signatures.
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


def _packet(tag: int, body: bytes) -> bytes:
    """A packet with a header of today's format."""
    length = len(body)
    if length < 192:
        size = bytes([length])
    elif length < 8384:
        size = bytes([(length - 192 >> 8) + 192, length - 192 & 0xFF])
    else:
        size = b"\xff" + length.to_bytes(4, "big")
    return bytes([0xC0 | tag]) + size + body


def _old_packet(tag: int, body: bytes, kind: int) -> bytes:
    """A packet with a header of the old format, its length in 1, 2 or 4 bytes, or left open."""
    size = len(body).to_bytes((1, 2, 4)[kind], "big") if kind < 3 else b""
    return bytes([0x80 | tag << 2 | kind]) + size + body


def _body(version: int = 4, size: int = 32) -> bytes:
    """A fresh Ed25519 key."""
    material = secrets.token_bytes(size)
    if version == 6:
        return b"\6\0\0\0\1\x1b" + size.to_bytes(4, "big") + material
    return bytes([version]) + b"\0\0\0\1\x16\x09\x2b\x06\x01\x04\x01\xda\x47\x0f\x01\x01\x07\x40" + material


def _armored(content: bytes, headers: str = "", label: str = "PUBLIC KEY BLOCK") -> str:
    text = base64.b64encode(content).decode()
    lines = "\n".join(text[place : place + 64] for place in range(0, len(text), 64))
    return f"-----BEGIN PGP {label}-----\n{headers}\n{lines}\n-----END PGP {label}-----"


def _key(body: bytes = b"") -> str:
    return _armored(_packet(PUBLIC_KEY, body or _body()) + _packet(NAME, b"Ada <ada@example.org>"))


def _add(api: Api, person: Person, key: str = "") -> int:
    added = api.post("/user/gpg_keys", person, key=key or _key())
    assert added.status_code == 201, added.text
    key_id: int = added.json()["id"]
    return key_id


def _numbers(api: Api, person: Person) -> list[int]:
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


WHO = [
    ("nobody", 401, 401, 401, 401),
    ("stranger", 200, 200, 403, 403),
    ("owner", 200, 200, 403, 403),
    ("administrator", 200, 200, 201, 200),
]


@pytest.mark.parametrize(("who", "lists", "reads", "adds", "removes"), WHO)
def test_everybody_reads_and_only_administrators_change_the_keys_of_a_user(
    api: Api, make: Make, who: str, lists: int, reads: int, adds: int, removes: int
) -> None:
    owner = make.user()
    key_id = _add(api, owner)
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "administrator": make.root}[who]
    path = f"/users/{owner.id}/gpg_keys"

    assert api.get(path, caller).status_code == lists
    assert api.get(f"{path}/{key_id}", caller).status_code == reads
    assert api.post(path, caller, key=_key()).status_code == adds
    assert api.delete(f"{path}/{key_id}", caller).status_code == removes
    assert (key_id in _numbers(api, owner)) == (who != "administrator")
    assert len(_numbers(api, owner)) == 1


def test_strangers_without_a_token_get_nowhere(api: Api, make: Make) -> None:
    key_id = _add(api, make.user())
    for method, path in [("GET", ""), ("GET", f"/{key_id}"), ("POST", ""), ("DELETE", f"/{key_id}")]:
        assert api.request(method, f"/user/gpg_keys{path}").status_code == 401


def test_the_key_of_somebody_else_is_not_ones_own(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    key_id = _add(api, owner)

    for path in (f"/user/gpg_keys/{key_id}", f"/users/{other.id}/gpg_keys/{key_id}"):
        read = api.get(path, other)
        assert (read.status_code, read.json()) == (404, {"message": "404 GPG Key Not Found"})
    assert api.delete(f"/user/gpg_keys/{key_id}", other).status_code == 200
    assert api.delete(f"/users/{other.id}/gpg_keys/{key_id}", make.root).status_code == 200
    assert _numbers(api, owner) == [key_id]


def test_removing_twice(api: Api, make: Make) -> None:
    user = make.user()
    own, others = _add(api, user), _add(api, user)

    assert [api.delete(f"/user/gpg_keys/{own}", user).status_code for _ in range(2)] == [200, 200]
    path = f"/users/{user.id}/gpg_keys/{others}"
    assert [api.delete(path, make.root).status_code for _ in range(2)] == [200, 200]
    assert _numbers(api, user) == []


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_user_who_is_not_there(api: Api, make: Make, method: str) -> None:
    path = "/users/987654321/gpg_keys" + ("/1" if method == "DELETE" else "")
    answer = api.request(method, path, make.root, **({"json": {"key": _key()}} if method == "POST" else {}))
    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


def test_a_key_is_one_users_only_however_it_is_wrapped(api: Api, make: Make) -> None:
    owner, other = make.user(), make.user()
    body = _body()
    _add(api, owner, _key(body))

    taken = {"message": {"fingerprint": ["has already been taken"]}}
    again = [
        _key(body),
        _armored(_old_packet(PUBLIC_KEY, body, 1), "Comment: another name and format\n"),
    ]
    for key in again:
        for caller, path in ((owner, "/user/gpg_keys"), (other, "/user/gpg_keys")):
            answer = api.post(path, caller, key=key)
            assert (answer.status_code, answer.json()) == (400, taken)
        answer = api.post(f"/users/{other.id}/gpg_keys", make.root, key=key)
        assert (answer.status_code, answer.json()) == (400, taken)
    assert _numbers(api, other) == []


def test_a_removed_key_is_free_at_once(api: Api, make: Make) -> None:
    user, leaver, heir = make.user(), make.user(), make.user()
    removed, left = _key(), _key()
    api.delete(f"/user/gpg_keys/{_add(api, user, removed)}", user)
    _add(api, leaver, left)
    assert api.delete(f"/users/{leaver.id}", make.root).status_code == 200
    for key in (removed, left):
        _add(api, heir, key)


FINE = {
    "version 6": _key(_body(6)),
    "old header": _armored(_old_packet(PUBLIC_KEY, _body(), 0)),
    "old header, wide length": _armored(_old_packet(PUBLIC_KEY, _body(), 2)),
    "two bytes of length": _key(_body(size=512)),
    "five bytes of length": _key(_body(size=9000)),
    "subkey": _armored(_packet(PUBLIC_KEY, _body()) + _packet(SUBKEY, _body())),
    "headers": _armored(_packet(PUBLIC_KEY, _body()), "Version: GnuPG v2\nComment: jürgen 🗝️\n"),
    "windows": _key().replace("\n", "\r\n"),
    "wrong checksum, which is not to be trusted": _key().replace("\n-----END", "\n=AAAA\n-----END"),
}


@pytest.mark.parametrize("key", FINE.values(), ids=FINE)
def test_every_way_to_write_a_key(api: Api, make: Make, key: str) -> None:
    user = make.user()
    key_id = _add(api, user, key)
    assert api.get(f"/user/gpg_keys/{key_id}", user).json()["key"] == key


def _broken() -> dict[str, str]:
    whole = _packet(PUBLIC_KEY, _body())
    return {
        "a word": "key",
        "an SSH key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKH2lyVQmOGqCNPQDy6bo/sZvecFlbALkwQlv8sxAsfW",
        "empty armor": _armored(b""),
        "no armor": base64.b64encode(whole).decode(),
        "private armor": _armored(whole, label="PRIVATE KEY BLOCK"),
        "signature": _armored(whole, label="SIGNATURE"),
        "secret key in public armor": _armored(_packet(SECRET_KEY, _body())),
        "secret key behind a public one": _armored(whole + _packet(SECRET_KEY, _body())),
        "secret subkey": _armored(whole + _packet(SECRET_SUBKEY, _body())),
        "two keys": _armored(whole + _packet(PUBLIC_KEY, _body())),
        "two armors": f"{_key()}\n{_key()}",
        "text before": f"My key:\n{_key()}",
        "text behind": f"{_key()}\nYours",
        "name first": _armored(_packet(NAME, b"Ada") + whole),
        "cut off": _armored(whole[:-1]),
        "trailing bytes": _armored(whole + b"0"),
        "no packet": _armored(b"\0" * 60),
        "length cut off": _armored(b"\xc6\xff\0"),
        "no length": _armored(b"\xc6"),
        "length left open": _armored(_old_packet(PUBLIC_KEY, _body(), 3)),
        "partial length": _armored(b"\xc6\xe5" + _body()),
        "version 3": _key(_body(3)),
        "version 5": _key(_body(5)),
        "head alone": _key(b"\4\0\0\0\1\x16"),
        "too long for a key": _key(_body(size=66_000)),
        "no base64": _key().replace("\n\n", "\n\n!"),
        "base64 beyond ASCII": _key().replace("\n\n", "\n\né"),
        "end missing": _key().rpartition("\n")[0],
        "begin missing": _key().partition("\n")[2],
    }


BROKEN = _broken()


@pytest.mark.parametrize("key", BROKEN.values(), ids=BROKEN)
def test_what_is_no_key(api: Api, make: Make, key: str) -> None:
    user = make.user()
    for answer in (
        api.post("/user/gpg_keys", user, key=key),
        api.post(f"/users/{user.id}/gpg_keys", make.root, key=key),
    ):
        assert (answer.status_code, answer.json()) == (400, {"message": {"key": ["is invalid"]}})
    assert _numbers(api, user) == []


WRONG = [
    ("", "can't be blank"),
    (" \n ", "can't be blank"),
    ("x" * 100_001, "is too long (maximum is 100000 characters)"),
    (["x"], "is invalid"),
    ({"a": "x"}, "is invalid"),
    (7, "is invalid"),
    (True, "is invalid"),
    ("x\0y", "is invalid"),
]


@pytest.mark.parametrize(("sent", "reason"), WRONG, ids=lambda value: str(value)[:20])
def test_keys_of_the_wrong_kind(api: Api, make: Make, sent: Any, reason: str) -> None:
    answer = api.post("/user/gpg_keys", make.user(), key=sent)
    assert (answer.status_code, answer.json()) == (400, {"message": {"key": [reason]}})


@pytest.mark.parametrize("sent", [{}, {"key": None}])
def test_the_key_must_be_given(api: Api, make: Make, sent: dict[str, Any]) -> None:
    answer = api.post("/user/gpg_keys", make.user(), **sent)
    assert (answer.status_code, answer.json()) == (400, {"message": '400 (Bad request) "key" not given'})


@pytest.mark.parametrize(("number", "status"), [("abc", 400), ("-1", 400), ("1.5", 400), (HUGE, 400), (2**63 - 1, 404)])
def test_numbers_that_no_key_has(api: Api, make: Make, number: Any, status: int) -> None:
    user = make.user()
    gone = 400 if status == 400 else 200
    assert api.get(f"/user/gpg_keys/{number}", user).status_code == status
    assert api.delete(f"/user/gpg_keys/{number}", user).status_code == gone
    assert api.get(f"/users/{user.id}/gpg_keys/{number}", user).status_code == status
    assert api.delete(f"/users/{user.id}/gpg_keys/{number}", make.root).status_code == gone
    # What is ill-typed is said before who is missing.
    for method in ("GET", "DELETE"):
        assert api.request(method, f"/users/{HUGE}/gpg_keys/{number}", make.root).status_code == status


def test_a_page_at_a_time(api: Api, make: Make) -> None:
    user = make.user()
    added = [_add(api, user) for _ in range(3)]

    for path in ("/user/gpg_keys", f"/users/{user.id}/gpg_keys"):
        page = api.get(path, user, per_page=2, page=2)
        assert [each["id"] for each in page.json()] == added[2:]
        assert (page.headers["x-total"], page.headers["x-total-pages"]) == ("3", "2")


def test_a_longer_list_takes_no_more_statements(api: Api, make: Make) -> None:
    user = make.user()

    def statements() -> int:
        before = make.database.statements.executed
        api.get("/user/gpg_keys", user)
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

    assert api.get("/user/gpg_keys", reader).status_code == 200
    assert api.get(f"/users/{user.id}/gpg_keys/{key_id}", reader).status_code == 200
    assert api.post("/user/gpg_keys", reader, key=_key()).status_code == 403
    assert api.delete(f"/user/gpg_keys/{key_id}", reader).status_code == 403
    assert _numbers(api, user) == [key_id]
