"""Strict parsing of URLs, and redaction of the secrets in them."""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote

from ingot.core.outgoing.errors import RequestRefused

MASK = "*****"
_DEFAULT_PORTS = {"http": 80, "https": 443}

# Stricter than the standard, because parsers disagree about the rest; git's parser and ours must agree.
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?:(?P<userinfo>[A-Za-z0-9._~!$&'()*+,;=:%-]*)@)?"
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<target>[/?#][!-~]*)?",
    re.IGNORECASE,
)
_BAD_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\]")
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_UP_TO_LAST_AT = re.compile(r"(?<=://)\S*@")
_REDACTED_NAMES = ("private_token", "access_token", "job_token", "token", "password", "secret", "api_key", "key")
_SECRET_PARAMETER = re.compile(rf"(?<=[?&])((?:{'|'.join(_REDACTED_NAMES)})=)[^&#\s]+", re.IGNORECASE)
_AUTHORIZATION = re.compile(r"\b(Basic|Bearer) +[A-Za-z0-9._~+/=-]+", re.IGNORECASE)


class UrlParts(NamedTuple):
    """Components of an http or https URL."""

    scheme: str
    userinfo: str | None
    host: str
    """In lower case and without the brackets of an IPv6 address."""
    port: int
    target: str
    """Path and query, as in the request line; without the fragment."""


def split_url(url: str) -> UrlParts:
    """Split a URL into its parts; raise ``RequestRefused`` if it is invalid or unusual."""
    if not url.isascii():
        raise RequestRefused("The URL must be written in ASCII: xn-- for its host, percent-encoded elsewhere")
    if _BAD_CHARACTERS.search(url):
        raise RequestRefused("The URL contains spaces, backslashes or control characters")
    match = _URL.fullmatch(url)
    if match is None:
        if not re.match(r"https?:", url, re.IGNORECASE):
            raise RequestRefused("Only http and https URLs are allowed")
        raise RequestRefused("The URL is not valid")
    scheme = match["scheme"].lower()
    port = _DEFAULT_PORTS[scheme] if match["port"] is None else int(match["port"])
    if not 1 <= port <= 65535:
        raise RequestRefused("The URL's port is not valid")
    target = (match["target"] or "/").partition("#")[0]
    if not target.startswith("/"):
        target = f"/{target}"
    return UrlParts(scheme, match["userinfo"], match["host"].strip("[]").lower(), port, target)


def strip_credentials(url: str) -> tuple[str, str, str]:
    """Return the URL without its user name and password, and these two, decoded; empty if there are none."""
    userinfo = split_url(url).userinfo
    if userinfo is None:
        return url, "", ""
    username, _, password = userinfo.partition(":")
    return url.replace(f"://{userinfo}@", "://", 1), unquote(username), unquote(password)


def is_secret_parameter(name: str) -> bool:
    """Return whether the values of a query parameter of this name must not be shown."""
    return name.lower() in _REDACTED_NAMES


def redact_url(url: str) -> str:
    """Return the URL with its secrets masked; in an invalid one, more may be masked than necessary."""
    try:
        split_url(url)
    except RequestRefused:
        # A password may contain a slash that is not encoded, so everything up to the last @ may be part of it.
        return _mask_userinfo(url, _UP_TO_LAST_AT)
    return _mask_userinfo(url, _USERINFO)


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """Mask these secrets in every encoding, and anything that looks like a secret in a URL or a header."""
    encodings = {
        encoded
        for secret in secrets
        if secret
        for encoded in (secret, quote(secret, safe=""), quote(secret), quote_plus(secret), json.dumps(secret)[1:-1])
    }
    # The longest first, because one may be part of another.
    for encoded in sorted(encodings, key=len, reverse=True):
        text = text.replace(encoded, MASK)
    return _AUTHORIZATION.sub(rf"\1 {MASK}", _mask_userinfo(text, _USERINFO))


def _mask_userinfo(text: str, userinfo: re.Pattern[str]) -> str:
    return _SECRET_PARAMETER.sub(rf"\1{MASK}", userinfo.sub(f"{MASK}:{MASK}@", text))
