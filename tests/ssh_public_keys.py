"""Public SSH keys for tests, new at each call."""

import base64
import hashlib
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SK_ED25519 = "sk-ssh-ed25519@openssh.com"
SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"


def packed(*parts: bytes) -> bytes:
    """Return strings, each prefixed by its length."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def line_of(kind: str, *parts: bytes) -> str:
    """Return a line of this type with any content, so that a test can make it invalid."""
    return f"{kind} {base64.b64encode(packed(kind.encode(), *parts)).decode()}"


def _written(private: Any) -> str:
    written: bytes = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return written.decode()


def rsa_line(bits: int) -> str:
    """Return a new RSA key."""
    return _written(rsa.generate_private_key(public_exponent=65537, key_size=bits))


def ed25519_line() -> str:
    """Return a new Ed25519 key."""
    return _written(ed25519.Ed25519PrivateKey.generate())


def ecdsa_line(curve: Any) -> str:
    """Return a new ECDSA key."""
    return _written(ec.generate_private_key(curve))


def point(form: PublicFormat = PublicFormat.UncompressedPoint) -> bytes:
    """Return a random point on the curve P-256."""
    return ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.X962, form)


def raw_ed25519() -> bytes:
    """Return the bytes of a new Ed25519 key."""
    return ed25519.Ed25519PrivateKey.generate().public_key().public_bytes_raw()


def blob_of(line: str) -> bytes:
    """Return the content of a line."""
    return base64.b64decode(line.split()[1])


def sha256_of(line: str) -> str:
    """Return the fingerprint as printed by ``ssh-keygen -l``."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob_of(line)).digest()).decode().rstrip("=")
