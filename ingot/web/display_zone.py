"""Time zone and language of the page that is being rendered, and the elements that show times in them.

The time zone is chosen by the user, or that of the browser, or UTC.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from markupsafe import Markup

from ingot.core.db.times import Timestamp
from ingot.web.cookies import ZONE_COOKIE
from ingot.web.formats import exact_time, relative_time
from ingot.web.languages import DEFAULT_LANGUAGE, load_catalogue, page_language
from ingot.web.page_routes import Visit

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+\-]*(/[A-Za-z0-9_+\-]+){0,2}")
_current: ContextVar[tuple[ZoneInfo | None, str]] = ContextVar("page_locale", default=(None, DEFAULT_LANGUAGE))


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
def page_locale(visit: Visit | None) -> Iterator[None]:
    """Show the times of a page in its time zone and language."""
    token = _current.set((display_zone(visit), page_language(visit)))
    try:
        yield
    finally:
        _current.reset(token)


def current_zone() -> ZoneInfo | None:
    """Return the time zone of the page that is being rendered; None for UTC."""
    return _current.get()[0]


def current_language() -> str:
    """Return the language of the page that is being rendered."""
    return _current.get()[1]


def current_locale() -> str:
    """Return a key that identifies time zone and language of the page that is being rendered."""
    zone, language = _current.get()
    return f"{language} {zone.key if zone else 'UTC'}"


def translate_label(text: str) -> str:
    """Return a label in the language of the page that is being rendered, for rows rendered without templates."""
    return load_catalogue(_current.get()[1]).get(text, text)


def ago_element(stamp: str | None, now: Timestamp) -> Markup:
    """Return a relative time for templates; nothing without a time."""
    return Markup(time_element(stamp, now)) if stamp else Markup()  # noqa: S704 - Contains only numbers and fixed words.


def time_element(stamp: str, now: Timestamp) -> str:
    """Return the HTML of a relative time like ``ui.ago``, for rows that are rendered without templates."""
    zone, language = _current.get()
    pattern, number = relative_time(stamp, now)
    text = load_catalogue(language).get(pattern, pattern).format(number)
    return f'<time datetime="{stamp}" title="{exact_time(stamp, zone)}">{text}</time>'
