"""Time zone in which a page shows times: chosen by the user, or that of the browser, or UTC."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from ingot.web.cookies import ZONE_COOKIE
from ingot.web.page_routes import Visit

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+\-]*(/[A-Za-z0-9_+\-]+){0,2}")
_current: ContextVar[ZoneInfo | None] = ContextVar("display_zone", default=None)


@lru_cache(maxsize=128)
def zone_or_none(name: str) -> ZoneInfo | None:
    """Return a time zone by its IANA name; None for UTC, which needs no conversion, and for unknown names."""
    if len(name) > 64 or not _NAME.fullmatch(name) or name == "UTC":
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # Unknown, malformed, or the name of a folder of zones.
        return None


@cache
def zone_names() -> list[str]:
    """List the time zones that users can choose."""
    return ["UTC", *sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))]


def display_zone(visit: Visit | None) -> ZoneInfo | None:
    """Return the time zone of a page; None for UTC."""
    if visit is None:
        return None
    chosen = visit.viewer.user.time_zone if visit.viewer.user else None
    return zone_or_none(chosen or visit.headers.cookies.get(ZONE_COOKIE, ""))


@contextmanager
def show_times_in(zone: ZoneInfo | None) -> Iterator[None]:
    """Show the times of a template in a time zone."""
    token = _current.set(zone)
    try:
        yield
    finally:
        _current.reset(token)


def current_zone() -> ZoneInfo | None:
    """Return the time zone of the page that is being rendered; None for UTC."""
    return _current.get()
