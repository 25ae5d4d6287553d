"""Where a hook sends to: a URL in which names in braces stand for what nobody is shown."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ingot.core.outgoing.guard import OutgoingRequestBlocked, SsrfGuard, strip_credentials
from ingot.core.outgoing.urls import parse_url
from ingot.errors import Conflict, Invalid

MAX_VARIABLES = 20
_NAME = r"[A-Za-z]\w*(?:[.-]\w+)*"
_VARIABLE = re.compile(_NAME, re.ASCII)
_IN_URL = re.compile(r"\{(" + _NAME + r")\}", re.ASCII)
_USER_IN_URL = re.compile(r"(?<=://)[^/?#]*@")

UrlVariables = Mapping[str, str]


class HookUrl(NamedTuple):
    """A URL without the user name and password that it was given with, and these two."""

    url: str
    credentials: str


def fill_variables(url: str, variables: UrlVariables) -> str:
    """The URL that is sent to."""
    return _IN_URL.sub(lambda found: variables.get(found[1], found[0]), url)


def parse_hook_url(url: str, variables: UrlVariables, guard: SsrfGuard) -> HookUrl:
    """Take a URL apart that a hook may have; nobody is asked where it leads, which is done at each delivery."""
    for name in _IN_URL.findall(url):
        if name not in variables:
            raise Conflict(url=[f"names the variable {name}, which is not given"])
    whole = fill_variables(url, variables)
    try:
        guard.check_url(whole, credentials=True)
        plain, username, password = strip_credentials(whole)
    except OutgoingRequestBlocked as error:
        raise Conflict(url=[error.reason]) from error
    kept = _USER_IN_URL.sub("", url, count=1)
    if fill_variables(kept, variables) != plain:
        raise Conflict(url=["has a variable that does not stay in its place"])
    return HookUrl(kept, f"{username}:{password}" if username or password else "")


def changes_server(url: str, before: UrlVariables, after: UrlVariables) -> bool:
    """Whether other variables make another server of the one that a URL led to."""
    access, there = (parse_url(fill_variables(url, variables)) for variables in (before, after))
    return (access.scheme, access.host, access.port) != (there.scheme, there.host, there.port)


def validate_variables(variables: UrlVariables) -> None:
    """Refuse what cannot stand for anything in a URL."""
    if len(variables) > MAX_VARIABLES or not all(_VARIABLE.fullmatch(key) and variables[key] for key in variables):
        raise Invalid(url_variables=["is invalid"])
