"""Reads SSH public keys as OpenSSH writes them, so strictly that a stored line can be nothing but one key."""

import base64
import hashlib
import re
from typing import NoReturn

import msgspec

from ingot.errors import Invalid, too_long_message

MAX_LENGTH = 5000
MIN_RSA_BITS = 2048
MAX_RSA_BITS = 16384  # OpenSSH and OpenSSL verify nothing larger.
_KEY_TYPES = (
    "ssh-rsa",
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
)
# Keys that live in a security key are a plain key, and behind it the application that they were made for.
_BASE_KEY_TYPES = {
    "sk-ssh-ed25519@openssh.com": "ssh-ed25519",
    "sk-ecdsa-sha2-nistp256@openssh.com": "ecdsa-sha2-nistp256",
}
# All that could end a line or a text for any reader; a tab may stand between the fields.
_LINE_BREAK = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_WHITESPACE = re.compile(r"[ \t]+")
_SHA256 = re.compile(r"(SHA256:[A-Za-z0-9+/]{43})=?")
_MD5 = re.compile(r"(?:MD5:)?((?:[0-9a-f]{2}:){15}[0-9a-f]{2}|[0-9a-f]{32})", re.IGNORECASE)


class PublicKey(msgspec.Struct, frozen=True):
    """A key that was read, and what it is known by."""

    line: str
    kind: str
    bits: int
    fingerprint_sha256: str
    fingerprint_md5: str


def parse_public_key(text: str) -> PublicKey:
    """Read a key: its type, its content and perhaps a comment, on one line and with no options before them."""
    line = text.strip()
    if not line:
        _refuse("can't be blank")
    if len(line) > MAX_LENGTH:
        _refuse(too_long_message(MAX_LENGTH))
    if _LINE_BREAK.search(line):
        _refuse("should be a single line")
    kind, *rest = _WHITESPACE.split(line, maxsplit=2)
    if kind == "ssh-dss":
        _refuse("type is forbidden. Must be RSA, ECDSA, ED25519, ECDSA_SK, or ED25519_SK")
    if not rest:
        _refuse("is invalid")
    try:
        blob = base64.b64decode(rest[0], validate=True)
        bits = _bits(kind, blob)
    except ValueError:
        _refuse("is invalid")
    if base64.b64encode(blob).decode() != rest[0]:
        _refuse("is invalid")
    if kind == "ssh-rsa" and bits < MIN_RSA_BITS:
        _refuse(f"is too short (minimum is {MIN_RSA_BITS} bits)")
    if kind == "ssh-rsa" and bits > MAX_RSA_BITS:
        _refuse(too_long_message(MAX_RSA_BITS, "bits"))
    return PublicKey(line, kind, bits, _sha256(blob), _md5(blob))


def parse_fingerprint(text: str) -> str:
    """A fingerprint as it is stored, from any spelling that ``ssh-keygen`` prints or people shorten it to."""
    # A plus sign that was not escaped in the query arrives as a blank, and no fingerprint holds one.
    text = text.strip().replace(" ", "+")
    if by_sha256 := _SHA256.fullmatch(text):
        return by_sha256[1]
    if by_md5 := _MD5.fullmatch(text):
        return bytes.fromhex(by_md5[1].replace(":", "")).hex(":")
    raise Invalid(fingerprint=["is invalid"])


def _refuse(reason: str) -> NoReturn:
    raise Invalid(key=[reason])


def _sha256(blob: bytes) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _md5(blob: bytes) -> str:
    return hashlib.md5(blob, usedforsecurity=False).digest().hex(":")


def _bits(kind: str, blob: bytes) -> int:
    """How large the key is; raises ``ValueError`` unless the content is exactly one key of this type."""
    # Only those who add a key pay for the library, which costs megabytes.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_public_key

    kind, blob = _base_key(kind, blob)
    try:
        key = load_ssh_public_key(_encoded_key(kind, blob))
        written = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    except (UnsupportedAlgorithm, NotImplementedError) as error:
        # The latter is what the library says of points that are not written out in full.
        raise ValueError(kind) from error
    # There is one way to write a key. Another would be another fingerprint for it, and so a second owner.
    if written != _encoded_key(kind, blob):
        raise ValueError(kind)
    return key.key_size if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey) else 256


def _encoded_key(kind: str, blob: bytes) -> bytes:
    return kind.encode() + b" " + base64.b64encode(blob)


def _base_key(kind: str, blob: bytes) -> tuple[str, bytes]:
    """The key itself, without what a security key adds to it."""
    if kind in _KEY_TYPES:
        return kind, blob
    if kind not in _BASE_KEY_TYPES:
        raise ValueError(kind)
    declared, *content, application = _strings(blob)
    if declared != kind.encode() or not application.startswith(b"ssh:"):
        raise ValueError(kind)
    plain = _BASE_KEY_TYPES[kind]
    return plain, b"".join(len(part).to_bytes(4, "big") + part for part in (plain.encode(), *content))


def _strings(blob: bytes) -> list[bytes]:
    """The strings of a blob, each behind its length; there must be two at least."""
    parts = []
    place = 0
    while place < len(blob):
        end = place + 4 + int.from_bytes(blob[place : place + 4], "big")
        if end > len(blob):
            raise ValueError("A string is cut off")
        parts.append(blob[place + 4 : end])
        place = end
    if len(parts) < 2:
        raise ValueError("The content is missing")
    return parts
