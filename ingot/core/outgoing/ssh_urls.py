"""Strict parsing of ssh URLs of repositories; git's parser, ssh's and ours must agree."""

import re
from typing import NamedTuple

from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard

DEFAULT_PORT = 22
_MAX_LENGTH = 2048
# Neither the user nor the host begins with a dash, which ssh would read as an option.
_URL = re.compile(
    r"ssh://(?P<username>[A-Za-z0-9_][A-Za-z0-9._-]*)@(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[A-Za-z0-9._~/+@%-]+)",
    re.IGNORECASE,
)


class SshLocation(NamedTuple):
    """Repository that is reached over SSH, and the checked address of its host."""

    url: str
    host: str
    port: int
    address: str


def is_ssh_url(url: str) -> bool:
    """Return whether a URL names a repository over SSH."""
    return url.lower().startswith("ssh://")


def check_ssh_url(guard: SsrfGuard, url: str) -> tuple[str, int]:
    """Return host and port of a URL; raise ``RequestRefused`` if it is invalid or names a private address."""
    match = _URL.fullmatch(url) if len(url) <= _MAX_LENGTH else None
    if match is None:
        raise RequestRefused("The URL is not of the form ssh://user@host/path, without a password")
    port = int(match["port"] or DEFAULT_PORT)
    if not 1 <= port <= 65535:
        raise RequestRefused("The URL's port is not valid")
    host = match["host"].lower()
    guard.check_host(host, port)
    return host, port


def pin_ssh_url(guard: SsrfGuard, url: str) -> SshLocation:
    """Check a URL and resolve its host once, as ``SsrfGuard.pin`` does for other URLs."""
    host, port = check_ssh_url(guard, url)
    return SshLocation(url, host, port, guard.resolve(host, port))
