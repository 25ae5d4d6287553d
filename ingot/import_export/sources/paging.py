"""Next page of a list, by the ``Link`` header or the ``X-Next-Page`` header of a response."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from ingot.core.outgoing.client import HttpResponse

_LINK = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?')
_LAST_PAGE = re.compile(r'<[^>]*[?&]page=(\d{1,9})[^>]*>\s*;[^,]*\brel="?last"?')


def next_target(response: HttpResponse, target: str) -> str | None:
    """Return path and query of the next page, or None after the last one.

    Scheme and host of the link are ignored: behind a proxy they are often wrong, and the token must stay with the host
    that the user named.
    """
    match = _LINK.search(response.header("link") or "")
    if match is not None:
        parts = urlsplit(match[1])
        if not parts.path.startswith("/") or not match[1].isascii():
            return None
        following = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return following if following != target else None
    number = (response.header("x-next-page") or "").strip()
    if response.header("link") is None and number.isdecimal() and len(number) < 10:
        return with_parameters(target, page=number)
    return None


def with_parameters(target: str, **parameters: str | int) -> str:
    """Return the target with these query parameters set."""
    path, _, query = target.partition("?")
    pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in parameters]
    return f"{path}?{urlencode([*pairs, *parameters.items()])}"


def total_of(response: HttpResponse) -> int | None:
    """Return the number of entries of a whole list by its first page of one entry; None if it cannot be told.

    GitLab and Gitea name the number; the number of GitHub's last page is the same.
    """
    for name in ("x-total", "x-total-count"):
        text = (response.header(name) or "").strip()
        if text.isdecimal() and len(text) < 15:
            return int(text)
    links = response.header("link") or ""
    match = _LAST_PAGE.search(links)
    if match is not None:
        return int(match[1])
    if _LINK.search(links):
        return None
    try:
        return len(msgspec.json.decode(response.body, type=list[Any]))
    except msgspec.DecodeError:
        return None


class PageCursor(msgspec.Struct, omit_defaults=True):
    """Target of a page, and the number of its entries that were read; an empty target means the end of the list."""

    target: str
    read: int = 0

    @classmethod
    def parse(cls, text: str) -> "PageCursor":
        """Return the cursor that a text holds."""
        return msgspec.json.decode(text, type=cls)

    def text(self) -> str:
        """Return the cursor as text."""
        return msgspec.json.encode(self).decode()
