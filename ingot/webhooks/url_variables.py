"""Webhook URLs with variables in braces, whose values are secret."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ingot.core.errors import Conflict, Invalid
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import split_url, strip_credentials

MAX_VARIABLES = 20
_NAME = r"[A-Za-z]\w*(?:[.-]\w+)*"
_VARIABLE = re.compile(_NAME, re.ASCII)
_IN_URL = re.compile(r"\{(" + _NAME + r")\}", re.ASCII)
_USER_IN_URL = re.compile(r"(?<=://)[^/?#]*@")

UrlVariables = Mapping[str, str]


class HookUrl(NamedTuple):
    """A URL without its credentials, and the credentials."""

    url: str
    credentials: str


def fill_variables(url: str, variables: UrlVariables) -> str:
    """Return the URL with its variables replaced."""
    return _IN_URL.sub(lambda match: variables.get(match[1], match[0]), url)


def parse_hook_url(url: str, variables: UrlVariables, guard: SsrfGuard) -> HookUrl:
    """Split off the credentials of a valid URL; raise Conflict otherwise. The host is resolved only at delivery."""
    for name in _IN_URL.findall(url):
        if name not in variables:
            raise Conflict(url=[f"uses the variable {name}, which is not defined"])
    whole = fill_variables(url, variables)
    try:
        guard.check_url(whole, credentials=True)
        plain, username, password = strip_credentials(whole)
    except RequestRefused as error:
        raise Conflict(url=[error.reason]) from error
    template = _USER_IN_URL.sub("", url, count=1)
    if fill_variables(template, variables) != plain:
        raise Conflict(url=["has a variable whose value changes other parts of the URL"])
    return HookUrl(template, f"{username}:{password}" if username or password else "")


def changes_server(url: str, before: UrlVariables, after: UrlVariables) -> bool:
    """Return whether changed variables make a URL point to another server."""
    old, new = (split_url(fill_variables(url, variables)) for variables in (before, after))
    return (old.scheme, old.host, old.port) != (new.scheme, new.host, new.port)


def validate_variables(variables: UrlVariables) -> None:
    """Raise Invalid for too many variables, invalid names or empty values."""
    if len(variables) > MAX_VARIABLES or not all(_VARIABLE.fullmatch(key) and variables[key] for key in variables):
        raise Invalid(url_variables=["is invalid"])
