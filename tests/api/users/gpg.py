"""GPG keys, valid and malformed, built from packets."""

import base64
import secrets

PUBLIC_KEY, SECRET_KEY, SECRET_SUBKEY, NAME, SUBKEY = 6, 5, 7, 13, 14


def packet(tag: int, content: bytes) -> bytes:
    """Return a packet with a header of the current format."""
    length = len(content)
    if length < 192:
        size = bytes([length])
    elif length < 8384:
        size = bytes([(length - 192 >> 8) + 192, length - 192 & 0xFF])
    else:
        size = b"\xff" + length.to_bytes(4, "big")
    return bytes([0xC0 | tag]) + size + content


def old_packet(tag: int, content: bytes, kind: int) -> bytes:
    """Return a packet with a header of the old format, its length in 1, 2 or 4 bytes, or indeterminate."""
    size = len(content).to_bytes((1, 2, 4)[kind], "big") if kind < 3 else b""
    return bytes([0x80 | tag << 2 | kind]) + size + content


def body(version: int = 4, size: int = 32) -> bytes:
    """Return a fresh Ed25519 key."""
    material = secrets.token_bytes(size)
    if version == 6:
        return b"\6\0\0\0\1\x1b" + size.to_bytes(4, "big") + material
    return bytes([version]) + b"\0\0\0\1\x16\x09\x2b\x06\x01\x04\x01\xda\x47\x0f\x01\x01\x07\x40" + material


def armored(content: bytes, headers: str = "", label: str = "PUBLIC KEY BLOCK") -> str:
    """Return packets as armored text."""
    text = base64.b64encode(content).decode()
    lines = "\n".join(text[place : place + 64] for place in range(0, len(text), 64))
    return f"-----BEGIN PGP {label}-----\n{headers}\n{lines}\n-----END PGP {label}-----"


def gpg_key(contents: bytes = b"") -> str:
    """Return a complete key with a user id; a new one by default."""
    return armored(packet(PUBLIC_KEY, contents or body()) + packet(NAME, b"Ada <ada@example.org>"))
