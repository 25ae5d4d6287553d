"""Reads OpenPGP public keys in their armor (RFC 9580), as far as to know what they are and to name them."""

import base64
import hashlib
from collections.abc import Iterator
from typing import NoReturn

import msgspec

from ingot.errors import Invalid, too_long_message

MAX_LENGTH = 100_000
_BEGIN = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
_END = "-----END PGP PUBLIC KEY BLOCK-----"
_PUBLIC_KEY = 6
# What belongs to one public key: signatures, markers, trust, names, subkeys, pictures and padding. Whatever else
# there is, above all a secret key, does not.
_ALLOWED_NEXT_PACKETS = frozenset({2, 10, 12, 13, 14, 17, 21})
# Version, time of creation and algorithm; then there must be something of the key itself.
_HEADER_BYTES = 6


class PublicGpgKey(msgspec.Struct, frozen=True):
    """A key that was read, and what it is known by."""

    text: str
    fingerprint: str


def parse_gpg_key(text: str) -> PublicGpgKey:
    """Read one public key with all that belongs to it."""
    text = text.strip()
    if not text:
        _refuse("can't be blank")
    if len(text) > MAX_LENGTH:
        _refuse(too_long_message(MAX_LENGTH))
    try:
        (tag, primary), *others = _packets(_dearmor(text))
        if tag != _PUBLIC_KEY or any(other not in _ALLOWED_NEXT_PACKETS for other, _ in others):
            raise ValueError(tag)
        return PublicGpgKey(text, _fingerprint(primary))
    except ValueError:
        _refuse("is invalid")


def _refuse(reason: str) -> NoReturn:
    raise Invalid(key=[reason])


def _dearmor(text: str) -> bytes:
    """The bytes between the two lines of one armor; raises ``ValueError`` where there is no such thing."""
    begin, *lines, end = [line.strip() for line in text.split("\n")]
    if begin != _BEGIN or end != _END:
        raise ValueError(begin)
    if "" in lines:
        # Before the blank line stand headers such as ``Comment``, if any.
        lines = lines[lines.index("") + 1 :]
    if lines and lines[-1].startswith("="):
        # A checksum is neither required nor to be trusted, by the standard.
        lines.pop()
    return base64.b64decode("".join(lines), validate=True)


def _packets(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Each packet's tag and body; raises ``ValueError`` unless they fill the content exactly."""
    place = 0
    while place < len(content):
        tag, start, length = _header(content, place)
        place = start + length
        if place > len(content):
            raise ValueError("A packet is cut off")
        yield tag, content[start:place]


def _header(content: bytes, place: int) -> tuple[int, int, int]:
    """A packet's tag, and where its body starts and how long it is.

    Keys never come with lengths that are partial or left open, so those are refused.
    """
    first = content[place]
    place += 1
    if not first & 0x80:
        raise ValueError("No packet begins like this")
    if not first & 0x40:
        width = (1, 2, 4, 0)[first & 3]
        return first >> 2 & 15, *_number(content, place, width)
    _, length = _number(content, place, 1)
    if length < 192:
        return first & 63, place + 1, length
    if length < 224:
        start, low = _number(content, place + 1, 1)
        return first & 63, start, ((length - 192) << 8) + low + 192
    return first & 63, *_number(content, place + 1, 4 if length == 255 else 0)


def _number(content: bytes, place: int, width: int) -> tuple[int, int]:
    """Where a number ends, and what it is."""
    end = place + width
    if not width or end > len(content):
        raise ValueError("A length is cut off or left open")
    return end, int.from_bytes(content[place:end], "big")


def _fingerprint(body: bytes) -> str:
    """What the standard names a key by, in upper case as ``gpg`` prints it."""
    if len(body) <= _HEADER_BYTES or len(body) > 0xFFFF:
        raise ValueError("This is too short or too long for a key")
    if body[0] == 4:
        digest = hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body, usedforsecurity=False)
    elif body[0] == 6:
        digest = hashlib.sha256(b"\x9b" + len(body).to_bytes(4, "big") + body)
    else:
        raise ValueError(f"There is no telling keys of version {body[0]}")
    return digest.hexdigest().upper()
