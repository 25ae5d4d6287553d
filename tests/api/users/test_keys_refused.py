"""SSH keys that are refused: malformed keys and texts with more than one key."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.client import Api, Make, User
from tests.ssh_public_keys import (
    SK_ECDSA,
    SK_ED25519,
    blob_of,
    ed25519_line,
    line_of,
    packed,
    point,
    raw_ed25519,
    rsa_line,
)

EXPONENT = b"\1\0\1"


def _titles(api: Api, person: User) -> list[str]:
    return [each["title"] for each in api.get("/user/keys", person).json()]


def _modulus(bits: int) -> bytes:
    """Return a number of this size, which is sufficient for a public key."""
    return ((1 << (bits - 1)) + 1).to_bytes(bits // 8 + 1, "big")


BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("line_break", BREAKS, ids=[ascii(each) for each in BREAKS])
def test_a_second_line_is_never_stored(api: Api, make: Make, line_break: str) -> None:
    """Attack: a key with a line break adds a line with a command to a file of keys."""
    user = make.user()
    smuggled = [
        f'{ed25519_line()} x{line_break}command="id" {ed25519_line()}',
        f"{ed25519_line()}{line_break}{ed25519_line()}",
        f"{ed25519_line()}{line_break}#",
        f"#{line_break}{ed25519_line()}",
        f"ssh-ed25519{line_break}{ed25519_line().split()[1]}",
    ]
    for key in smuggled:
        for answer in (
            api.post("/user/keys", user, title="x", key=key),
            api.post(f"/users/{user.id}/keys", make.root, title="x", key=key),
        ):
            assert (answer.status_code, answer.json()) == (400, {"message": {"key": ["should be a single line"]}})
    assert _titles(api, user) == []


def _unusual_spellings() -> list[Any]:
    """Return texts that look like a key, with the reason why they are rejected."""
    plain = ed25519_line()
    kind, content = plain.split()
    raw, blob, ones = raw_ed25519(), blob_of(plain), b"\xff" * 32
    wide = _modulus(2048)
    off_curve = b"\4" + b"\1" * 64
    dss = line_of("ssh-dss", *(number.to_bytes(129, "big") for number in (2**1023 + 1, 2**159 + 1, 3, 5)))
    invalid = {
        "a word": "laptop",
        "the type alone": kind,
        "the content alone": content,
        "no content": f"{kind} ",
        "unknown type": f"ssh-none {content}",
        "certificate": f"ssh-ed25519-cert-v01@openssh.com {content}",
        "type in capitals": f"SSH-ED25519 {content}",
        "another type than inside": f"ssh-rsa {content}",
        "another type inside": f"ssh-ed25519 {line_of('ssh-rsa', EXPONENT, wide).split()[1]}",
        "another curve": line_of("ecdsa-sha2-nistp384", b"nistp256", point()),
        "option": f'command="id" {plain}',
        "harmless option": f"no-pty {plain}",
        "principal": f"* {plain}",
        "unicode type": f"ｓｓｈ-ed25519 {content}",
        "no base64": f"{kind} {content[:-4]}!!!!",
        "url base64": line_of(kind, ones).replace("/", "_"),
        "loose base64": f"{kind} {content[:-1]}",
        "padded base64": f"{kind} {content}====",
        "unicode base64": f"{kind} {content[:-1]}é",
        "cut off": f"{kind} {base64.b64encode(blob[:-1]).decode()}",
        "trailing bytes": f"{kind} {base64.b64encode(blob + b'0').decode()}",
        "second key inside": f"{kind} {base64.b64encode(blob + blob).decode()}",
        "short ed25519": line_of("ssh-ed25519", raw[:-1]),
        "huge length": f"{kind} {base64.b64encode(ones + blob).decode()}",
        "empty": f"{kind} {base64.b64encode(packed(b'ssh-ed25519')).decode()}",
        "rsa with leading zeros": line_of("ssh-rsa", EXPONENT, b"\0\0" + wide),
        "negative rsa": line_of("ssh-rsa", EXPONENT, wide[1:]),
        "rsa with exponent one": line_of("ssh-rsa", b"\1", wide),
        "rsa of zero": line_of("ssh-rsa", EXPONENT, b""),
        "compressed point": line_of("ecdsa-sha2-nistp256", b"nistp256", point(PublicFormat.CompressedPoint)),
        "point off the curve": line_of("ecdsa-sha2-nistp256", b"nistp256", off_curve),
        "security key without application": line_of(SK_ED25519, raw),
        "security key for the web": line_of(SK_ED25519, raw, b"https://example.org"),
        "security key with more": line_of(SK_ED25519, raw, b"ssh:", b"ssh:"),
        "short security key": line_of(SK_ED25519, raw[:-1], b"ssh:"),
        "security key of another type": f"{SK_ED25519} {line_of('ssh-ed25519', raw, b'ssh:').split()[1]}",
        "security key with another curve": line_of(SK_ECDSA, b"nistp384", point(), b"ssh:"),
        "security key off the curve": line_of(SK_ECDSA, b"nistp256", off_curve, b"ssh:"),
        "empty security key": line_of(SK_ED25519),
    }
    private = ed25519.Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    too_short, too_long = "is too short (minimum is 2048 bits)", "is too long (maximum is 16384 bits)"
    others = {
        "dsa": (dss, "type is forbidden. Must be RSA, ECDSA, ED25519, ECDSA_SK, or ED25519_SK"),
        "weak rsa": (rsa_line(1024), too_short),
        "rsa that is a bit too weak": (line_of("ssh-rsa", EXPONENT, _modulus(2047)), too_short),
        "rsa that is a bit too strong": (line_of("ssh-rsa", EXPONENT, _modulus(16385)), too_long),
        "long comment": (f"{plain} {'x' * 5000}", "is too long (maximum is 5000 characters)"),
        "blank": (" \n ", "can't be blank"),
        "private key": (private.decode(), "should be a single line"),
        "escape": (f"{plain} \x1b[2J", "should be a single line"),
    }
    return [pytest.param(key, "is invalid", id=name) for name, key in invalid.items()] + [
        pytest.param(key, reason, id=name) for name, (key, reason) in others.items()
    ]


@pytest.mark.parametrize(("key", "reason"), _unusual_spellings())
def test_malformed_keys_are_rejected(api: Api, make: Make, key: str, reason: str) -> None:
    user = make.user()
    answer = api.post("/user/keys", user, title="laptop", key=key)
    assert (answer.status_code, answer.json()) == (400, {"message": {"key": [reason]}})
    assert _titles(api, user) == []


TITLES = [("", "can't be blank"), (" \t", "can't be blank"), ("x" * 256, "is too long (maximum is 255 characters)")]


@pytest.mark.parametrize(("title", "reason"), TITLES)
def test_invalid_titles_are_rejected(api: Api, make: Make, title: str, reason: str) -> None:
    user = make.user()
    answer = api.post("/user/keys", user, title=title, key=ed25519_line())
    assert (answer.status_code, answer.json()) == (400, {"message": {"title": [reason]}})
    both = api.post("/user/keys", user, title=title, key="laptop")
    assert (both.status_code, both.json()) == (400, {"message": {"title": [reason], "key": ["is invalid"]}})


@pytest.mark.parametrize(
    ("sent", "missing"),
    [({}, "title"), ({"title": "x"}, "key"), ({"key": "x"}, "title"), ({"title": "x", "key": None}, "key")],
)
def test_title_and_key_are_required(api: Api, make: Make, sent: dict[str, Any], missing: str) -> None:
    user = make.user()
    for path, caller in (("/user/keys", user), (f"/users/{user.id}/keys", make.root)):
        answer = api.post(path, caller, **sent)
        assert (answer.status_code, answer.json()) == (400, {"message": f'400 (Bad request) "{missing}" not given'})


INVALID = [
    ("title", ["x"]),
    ("title", {"a": "x"}),
    ("title", "x\0y"),
    ("key", ["x"]),
    ("key", {"a": "x"}),
    ("key", 7),
    ("key", True),
    ("key", "x\0y"),
    ("expires_at", "tomorrow"),
    ("expires_at", 7),
    ("expires_at", ["2030-01-01"]),
    # A key for signing only must not be accepted for SSH, and is not supported.
    ("usage_type", "signing"),
    ("usage_type", "x"),
]


@pytest.mark.parametrize(("name", "value"), INVALID)
def test_parameters_of_the_wrong_type(api: Api, make: Make, name: str, value: Any) -> None:
    user = make.user()
    answer = api.post("/user/keys", user, **{"title": "laptop", "key": ed25519_line(), name: value})
    assert (answer.status_code, answer.json()) == (400, {"message": {name: ["is invalid"]}})
    assert _titles(api, user) == []
