"""Parser of armored OpenPGP public keys (RFC 9580): packet structure and fingerprint only."""

import base64
import hashlib
from collections.abc import Iterator
from typing import NoReturn

import msgspec

from ingot.core.errors import Invalid, too_long_message

MAX_LENGTH = 100_000
_BEGIN = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
_END = "-----END PGP PUBLIC KEY BLOCK-----"
_PUBLIC_KEY = 6
# Packets that may follow the primary key: signatures, markers, trust, user ids, subkeys, user attributes and padding.
# All others are refused, above all secret keys.
_ALLOWED_NEXT_PACKETS = frozenset({2, 10, 12, 13, 14, 17, 21})
# Version, creation time and algorithm; key material must follow.
_HEADER_BYTES = 6


class PublicGpgKey(msgspec.Struct, frozen=True):
    """A parsed key with its fingerprint."""

    text: str
    fingerprint: str


def parse_gpg_key(text: str) -> PublicGpgKey:
    """Parse one public key; raise Invalid otherwise."""
    text = text.strip()
    if not text:
        _refuse("can't be blank")
    if len(text) > MAX_LENGTH:
        _refuse(too_long_message(MAX_LENGTH))
    try:
        (tag, primary), *next_packets = _packets(_dearmor(text))
        if tag != _PUBLIC_KEY or any(next_tag not in _ALLOWED_NEXT_PACKETS for next_tag, _ in next_packets):
            raise ValueError(tag)
        return PublicGpgKey(text, _fingerprint(primary))
    except ValueError:
        _refuse("is invalid")


def key_packets(text: str) -> bytes:
    """Return the packets of a key that was parsed before; raise ValueError if it is malformed."""
    return _dearmor(text)


def _refuse(reason: str) -> NoReturn:
    raise Invalid(key=[reason])


def _dearmor(text: str) -> bytes:
    """Return the bytes of an armored block; raise ValueError if it is malformed."""
    begin, *lines, end = [line.strip() for line in text.split("\n")]
    if begin != _BEGIN or end != _END:
        raise ValueError(begin)
    if "" in lines:
        # Headers such as ``Comment`` precede the blank line.
        lines = lines[lines.index("") + 1 :]
    if lines and lines[-1].startswith("="):
        # The checksum is optional and must be ignored, according to the standard.
        lines.pop()
    return base64.b64decode("".join(lines), validate=True)


def _packets(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and body of each packet; raise ValueError unless they fill the content exactly."""
    offset = 0
    while offset < len(content):
        tag, start, length = _header(content, offset)
        offset = start + length
        if offset > len(content):
            raise ValueError("A packet is truncated")
        yield tag, content[start:offset]


def _header(content: bytes, offset: int) -> tuple[int, int, int]:
    """Return a packet's tag, and the offset and length of its body.

    Partial and indeterminate lengths are refused, because keys never use them.
    """
    first = content[offset]
    offset += 1
    if not first & 0x80:
        raise ValueError("This is not a packet header")
    if not first & 0x40:
        width = (1, 2, 4, 0)[first & 3]
        return first >> 2 & 15, *_number(content, offset, width)
    _, length = _number(content, offset, 1)
    if length < 192:
        return first & 63, offset + 1, length
    if length < 224:
        start, low = _number(content, offset + 1, 1)
        return first & 63, start, ((length - 192) << 8) + low + 192
    return first & 63, *_number(content, offset + 1, 4 if length == 255 else 0)


def _number(content: bytes, offset: int, width: int) -> tuple[int, int]:
    """Return the end offset of a number and its value."""
    end = offset + width
    if not width or end > len(content):
        raise ValueError("A length is truncated or indeterminate")
    return end, int.from_bytes(content[offset:end], "big")


def _fingerprint(body: bytes) -> str:
    """Return the fingerprint of a key packet, in upper case as ``gpg`` prints it."""
    if len(body) <= _HEADER_BYTES or len(body) > 0xFFFF:
        raise ValueError("The key packet has an impossible length")
    if body[0] == 4:
        digest = hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body, usedforsecurity=False)
    elif body[0] == 6:
        digest = hashlib.sha256(b"\x9b" + len(body).to_bytes(4, "big") + body)
    else:
        raise ValueError(f"Keys of version {body[0]} are not supported")
    return digest.hexdigest().upper()
