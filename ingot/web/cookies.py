"""HttpOnly and SameSite cookies of the pages."""

from http.cookies import CookieError, SimpleCookie

from ingot.core.http.request import Header, Request
from ingot.settings import Settings

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
    try:
        jar = SimpleCookie(request.headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}
