"""Strict parser of OpenSSH public keys: an accepted line contains exactly one key, without options."""

import base64
import hashlib
import re
from typing import NoReturn

import msgspec

from ingot.core.errors import Invalid, too_long_message
from ingot.core.late_imports import require_modules

MAX_LENGTH = 5000
MIN_RSA_BITS = 2048
MAX_RSA_BITS = 16384  # The limit of OpenSSH and OpenSSL.
_KEY_TYPES = (
    "ssh-rsa",
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
)
# Keys on a security token (FIDO) consist of a plain key followed by the application that they were created for.
_BASE_KEY_TYPES = {
    "sk-ssh-ed25519@openssh.com": "ssh-ed25519",
    "sk-ecdsa-sha2-nistp256@openssh.com": "ecdsa-sha2-nistp256",
}
# Characters that any parser might treat as the end of a line or text; a tab may separate fields.
_LINE_BREAK = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_WHITESPACE = re.compile(r"[ \t]+")
_SHA256 = re.compile(r"(SHA256:[A-Za-z0-9+/]{43})=?")
_MD5 = re.compile(r"(?:MD5:)?((?:[0-9a-f]{2}:){15}[0-9a-f]{2}|[0-9a-f]{32})", re.IGNORECASE)


class PublicKey(msgspec.Struct, frozen=True):
    """A parsed key with its fingerprints."""

    line: str
    kind: str
    bits: int
    fingerprint_sha256: str
    fingerprint_md5: str


def parse_public_key(text: str) -> PublicKey:
    """Parse a key: type, content and optional comment on one line, without options; raise Invalid otherwise."""
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
    """Return the stored form of a fingerprint in any spelling that ``ssh-keygen`` prints; raise Invalid otherwise."""
    # An unescaped plus sign in a query string arrives as a space, which no fingerprint contains.
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
    """Return the size of a key; raise ValueError unless the content is exactly one key of this type."""
    # Imported here because the library takes megabytes and only adding a key needs it.
    require_modules(
        "cryptography.exceptions",
        "cryptography.hazmat.primitives.asymmetric",
        "cryptography.hazmat.primitives.serialization",
        "cryptography.hazmat.primitives.serialization.ssh",
    )
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_public_key

    kind, blob = _base_key(kind, blob)
    try:
        key = load_ssh_public_key(_encoded_key(kind, blob))
        canonical = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    except (UnsupportedAlgorithm, NotImplementedError) as error:
        # The library raises NotImplementedError for compressed points.
        raise ValueError(kind) from error
    # Only the canonical encoding is accepted: another one would give the same key a second fingerprint and owner.
    if canonical != _encoded_key(kind, blob):
        raise ValueError(kind)
    return key.key_size if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey) else 256


def _encoded_key(kind: str, blob: bytes) -> bytes:
    return kind.encode() + b" " + base64.b64encode(blob)


def _base_key(kind: str, blob: bytes) -> tuple[str, bytes]:
    """Return type and content of the plain key within a security token's key."""
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
    """Return the length-prefixed strings of a blob; raise ValueError unless there are at least two."""
    parts = []
    offset = 0
    while offset < len(blob):
        end = offset + 4 + int.from_bytes(blob[offset : offset + 4], "big")
        if end > len(blob):
            raise ValueError("A string is truncated")
        parts.append(blob[offset + 4 : end])
        offset = end
    if len(parts) < 2:
        raise ValueError("The content is missing")
    return parts
