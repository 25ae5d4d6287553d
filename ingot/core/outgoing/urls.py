"""Taking URLs apart without doubt, and keeping the secrets in them from being shown."""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote

from ingot.core.outgoing.refusal import OutgoingRequestBlocked

MASK = "*****"
_DEFAULT_PORTS = {"http": 80, "https": 443}

# Narrower than the standard, because parsers differ in what they make of the rest; git's and ours must agree.
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
_ANYTHING_BEFORE_AT = re.compile(r"(?<=://)\S*@")
_REDACTED_NAMES = ("private_token", "access_token", "job_token", "token", "password", "secret", "api_key", "key")
_SECRET_PARAMETER = re.compile(rf"(?<=[?&])((?:{'|'.join(_REDACTED_NAMES)})=)[^&#\s]+", re.IGNORECASE)
_AUTHORIZATION = re.compile(r"\b(Basic|Bearer) +[A-Za-z0-9._~+/=-]+", re.IGNORECASE)


class UrlParts(NamedTuple):
    """A URL of ours in its parts."""

    scheme: str
    userinfo: str | None
    host: str
    """In lower case and without the brackets of an IPv6 address."""
    port: int
    target: str
    """Path and query, as the request line says them; the fragment is left out."""


def parse_url(url: str) -> UrlParts:
    """Take a URL apart, or refuse it."""
    if not url.isascii():
        raise OutgoingRequestBlocked("The URL must be written in ASCII: xn-- for its host, percent-encoded elsewhere")
    if _BAD_CHARACTERS.search(url):
        raise OutgoingRequestBlocked("The URL holds spaces, backslashes or control characters")
    found = _URL.fullmatch(url)
    if found is None:
        if not re.match(r"https?:", url, re.IGNORECASE):
            raise OutgoingRequestBlocked("Only http and https URLs are allowed")
        raise OutgoingRequestBlocked("The URL is not valid")
    scheme = found["scheme"].lower()
    port = _DEFAULT_PORTS[scheme] if found["port"] is None else int(found["port"])
    if not 1 <= port <= 65535:
        raise OutgoingRequestBlocked("The URL's port is not valid")
    target = (found["target"] or "/").partition("#")[0]
    if not target.startswith("/"):
        target = f"/{target}"
    return UrlParts(scheme, found["userinfo"], found["host"].strip("[]").lower(), port, target)


def strip_credentials(url: str) -> tuple[str, str, str]:
    """The URL without user name and password, and these two, decoded; empty where there are none."""
    userinfo = parse_url(url).userinfo
    if userinfo is None:
        return url, "", ""
    username, _, password = userinfo.partition(":")
    return url.replace(f"://{userinfo}@", "://", 1), unquote(username), unquote(password)


def is_secret_parameter(parameter: str) -> bool:
    """Whether what a URL asks with under this name is not to be shown."""
    return parameter.lower() in _REDACTED_NAMES


def redact_url(url: str) -> str:
    """The URL with its secrets masked; of one that is not valid, more is masked than may be needed."""
    try:
        parse_url(url)
    except OutgoingRequestBlocked:
        # A password may hold a slash that nobody encoded, so everything up to the last @ may be part of it.
        return _mask_userinfo(url, _ANYTHING_BEFORE_AT)
    return _mask_userinfo(url, _USERINFO)


def redact_text(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets in any spelling, and without what looks like one in a URL or a header."""
    spellings = {
        spelled
        for secret in secrets
        if secret
        for spelled in (secret, quote(secret, safe=""), quote(secret), quote_plus(secret), json.dumps(secret)[1:-1])
    }
    # The longest first, since one may be part of another.
    for spelled in sorted(spellings, key=len, reverse=True):
        text = text.replace(spelled, MASK)
    return _AUTHORIZATION.sub(rf"\1 {MASK}", _mask_userinfo(text, _USERINFO))


def _mask_userinfo(text: str, userinfo: re.Pattern[str]) -> str:
    return _SECRET_PARAMETER.sub(rf"\1{MASK}", userinfo.sub(f"{MASK}:{MASK}@", text))
