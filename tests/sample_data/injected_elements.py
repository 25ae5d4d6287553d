"""Active content that hostile texts have injected into a page."""

import re
from html.parser import HTMLParser

from tests.sample_data.texts import MARK

_ADDRESSES = {"href", "src", "action", "formaction", "poster", "data", "srcset", "background", "xlink:href", "cite"}
_ADDRESSES |= {f"hx-{word}" for word in ("get", "post", "put", "patch", "delete", "push-url", "replace-url")}
# As browsers parse a URL: they skip leading spaces, and tabs and line breaks in it.
_IGNORED = re.compile(r"^[\x00-\x20]+|[\t\n\r]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_HARMLESS = {"http", "https", "mailto", "ftp"}
_NEVER = {"iframe", "object", "embed", "base", "style", "frame", "applet", "portal", "xmp", "plaintext"}
# Attributes that may contain users' texts: shown, submitted or followed as a URL.
_SHOWN = {"value", "title", "alt", "placeholder", "content", "label", "aria-label", "datetime", "download"}
_OURS = ("/assets/", "/-/appearance.css?v=", "/-/manifest.json")


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.troubles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if MARK in tag or tag in _NEVER:
            self.troubles.append(f"<{tag}>")
        held = {name: value or "" for name, value in attrs}
        if tag == "script" and not held.get("src", "").startswith("/assets/"):
            self.troubles.append("a script that is not ours")
        is_feed = held.get("type") == "application/atom+xml" and held.get("href", "").startswith("/")
        if tag == "link" and not (is_feed or held.get("href", "").startswith(_OURS)):
            self.troubles.append(f"a link to {held.get('href')}")
        if tag == "meta" and "http-equiv" in held:
            self.troubles.append("a header within the page")
        if tag == "img" and held.get("src", "").startswith("data:image/"):
            del held["src"]  # Images run no scripts and load nothing.
        self.troubles += [f"<{tag} {name}={value!r}>" for name, value in held.items() if _is_active(name, value)]

    def handle_comment(self, data: str) -> None:
        self.troubles.append(f"a comment: {data[:50]}")

    def handle_decl(self, decl: str) -> None:
        if decl.lower() != "doctype html":
            self.troubles.append(f"a declaration: {decl[:50]}")


def _is_active(name: str, value: str) -> bool:
    """Return whether an attribute has an effect that our templates did not write."""
    if name.startswith(("on", "hx-on")) or name == "style" or MARK in name:
        return True
    if name in _ADDRESSES:
        return _is_unsafe_url(value)
    if MARK not in value:
        return False
    if name == "id":
        return not value.startswith("user-content-")
    return name not in _SHOWN and not (name.startswith("data-") and not name.startswith("data-hx-"))


def _is_unsafe_url(address: str) -> bool:
    plain = _IGNORED.sub("", address)
    scheme = _SCHEME.match(plain)
    return scheme[1].lower() not in _HARMLESS if scheme else plain.startswith(("//", "\\\\", "/\\"))


def injected(page: str) -> list[str]:
    """Return elements, attributes, URLs and styles created by hostile texts."""
    parser = _Elements()
    parser.feed(page)
    parser.close()
    return parser.troubles
