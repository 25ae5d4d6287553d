"""Cookies that scripts cannot read and other sites cannot send along with a form."""

from http.cookies import CookieError, SimpleCookie

from ingot.core.http.request import Header, Request
from ingot.settings import Settings

SESSION_COOKIE = "_service_session"
# A form of somebody who is not signed in is bound to the browser by this one instead.
VISITOR_COOKIE = "_service_visitor"
THEME_COOKIE = "_service_theme"


def set_cookie(settings: Settings, name: str, value: str, *, ends: bool = False) -> Header:
    """A cookie for this host; Secure exactly when people reach the server by https."""
    parts = [f"{name}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if settings.is_https:
        parts.append("Secure")
    if ends:
        parts.append("Max-Age=0")
    return b"set-cookie", "; ".join(parts).encode()


def read_cookies(request: Request) -> dict[str, str]:
    """The cookies that a browser sent."""
    try:
        jar = SimpleCookie(request.headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}
