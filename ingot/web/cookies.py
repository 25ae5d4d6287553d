"""HttpOnly and SameSite cookies of the pages."""

import re
from http.cookies import CookieError, SimpleCookie

from ingot.core.api.params import number_or_none
from ingot.core.http.request import Header, Request
from ingot.core.settings import Settings

SESSION_COOKIE = "_service_session"
# Binds the CSRF tokens of signed-out users to their browser.
VISITOR_COOKIE = "_service_visitor"
THEME_COOKIE = "_service_theme"
# Set by a script to the time zone of the browser.
ZONE_COOKIE = "_service_zone"
# Marks a browser in which a user has signed in, for the limit of failed sign-ins.
DEVICE_COOKIE = "_service_device"
# Confirms a submitted form on the next page.
NOTICE_COOKIE = "_service_notice"
# Ids of the broadcast messages that the user has dismissed.
DISMISSED_COOKIE = "_service_dismissed"
MAX_DISMISSED = 20
_PLAIN_COOKIE = r"_[a-z_]+=[A-Za-z0-9_.%/+=-]*"
_PLAIN_COOKIES = re.compile(rf"{_PLAIN_COOKIE}(; {_PLAIN_COOKIE})*")
"""Our own cookies, without quotes; the parser of the standard library, which reads any, takes seven times as long."""


def set_cookie(settings: Settings, name: str, value: str, *, ends: bool = False, max_age: int | None = None) -> Header:
    """Return a Set-Cookie header; Secure if the external URL uses https. ``ends`` deletes the cookie.

    Without ``max_age`` in seconds, the browser forgets the cookie when it is closed.
    """
    parts = [f"{name}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if settings.is_https:
        parts.append("Secure")
    if ends:
        parts.append("Max-Age=0")
    elif max_age is not None:
        parts.append(f"Max-Age={max_age}")
    return b"set-cookie", "; ".join(parts).encode()


def read_cookies(request: Request) -> dict[str, str]:
    """Return the cookies of a request; none if the header is malformed."""
    header = request.headers.get(b"cookie", b"").decode("latin-1")
    if _PLAIN_COOKIES.fullmatch(header):
        pairs = (pair.partition("=") for pair in header.split("; "))
        return {name: value for name, _, value in pairs}
    try:
        jar = SimpleCookie(header)
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}


def dismissed_ids(cookies: dict[str, str]) -> list[int]:
    """Return the ids of the broadcast messages that the user has dismissed, the newest last."""
    numbers = map(number_or_none, cookies.get(DISMISSED_COOKIE, "").split("."))
    return [number for number in numbers if number is not None][-MAX_DISMISSED:]
