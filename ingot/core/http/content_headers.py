"""Headers of responses with files of users, which a browser never executes, and the accepted compression."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from ingot.core.http.request import Header

_UNSAFE_IN_QUOTES = re.compile(r'[^\x20-\x7e]|["\\%]')
_REFUSED = re.compile(rb"q\s*=\s*0(\.0*)?")
# If a browser renders the response as a page after all, the sandbox blocks scripts and requests.
SANDBOX: Header = (b"content-security-policy", b"sandbox; default-src 'none'")


def content_disposition(kind: str, name: str) -> Header:
    """Return a Content-Disposition header. Names with special characters are sent a second time in UTF-8 (RFC 6266)."""
    plain = _UNSAFE_IN_QUOTES.sub("_", name)
    value = f'{kind}; filename="{plain}"'
    if plain != name:
        value += f"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return (b"content-disposition", value.encode())


def accepts_gzip(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether the client accepts responses that are compressed with gzip (RFC 9110)."""
    return accepts_coding(headers, b"gzip")


def accepts_coding(headers: Mapping[bytes, bytes], name: bytes) -> bool:
    """Return whether the client accepts responses in a coding, which it names."""
    for offer in headers.get(b"accept-encoding", b"").lower().split(b","):
        coding, _, weight = offer.partition(b";")
        if coding.strip() == name:
            return _REFUSED.fullmatch(weight.strip()) is None
    return False
