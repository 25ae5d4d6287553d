"""Where a hook sends to: a URL in which names in braces stand for what nobody is shown."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ingot.errors import Conflict, Invalid
from ingot.outgoing.guard import Guard, Refused, strip_credentials
from ingot.outgoing.urls import parts_of

MOST_VARIABLES = 20
_NAME = r"[A-Za-z]\w*(?:[.-]\w+)*"
_VARIABLE = re.compile(_NAME, re.ASCII)
_IN_URL = re.compile(r"\{(" + _NAME + r")\}", re.ASCII)
_USER_IN_URL = re.compile(r"(?<=://)[^/?#]*@")

Variables = Mapping[str, str]


class Address(NamedTuple):
    """A URL without the user name and password that it was given with, and these two."""

    url: str
    credentials: str


def filled(url: str, variables: Variables) -> str:
    """The URL that is sent to."""
    return _IN_URL.sub(lambda found: variables.get(found[1], found[0]), url)


def address_of(url: str, variables: Variables, guard: Guard) -> Address:
    """Take a URL apart that a hook may have; nobody is asked where it leads, which is done at each delivery."""
    for name in _IN_URL.findall(url):
        if name not in variables:
            raise Conflict(url=[f"names the variable {name}, which is not given"])
    whole = filled(url, variables)
    try:
        guard.check_url(whole, credentials=True)
        plain, username, password = strip_credentials(whole)
    except Refused as error:
        raise Conflict(url=[error.reason]) from error
    kept = _USER_IN_URL.sub("", url, count=1)
    if filled(kept, variables) != plain:
        raise Conflict(url=["has a variable that does not stay in its place"])
    return Address(kept, f"{username}:{password}" if username or password else "")


def leads_elsewhere(url: str, before: Variables, after: Variables) -> bool:
    """Whether other variables make another server of the one that a URL led to."""
    here, there = (parts_of(filled(url, variables)) for variables in (before, after))
    return (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port)


def refuse_unfit(variables: Variables) -> None:
    """Refuse what cannot stand for anything in a URL."""
    if len(variables) > MOST_VARIABLES or not all(_VARIABLE.fullmatch(key) and variables[key] for key in variables):
        raise Invalid(url_variables=["is invalid"])
