"""Notices that confirm a submitted form on the page to which it redirects, kept in a signed cookie until then."""

from collections.abc import Callable

import msgspec

from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.db.vault import Vault
from ingot.core.http.request import Header
from ingot.core.settings import Settings
from ingot.web.cookies import NOTICE_COOKIE, set_cookie
from ingot.web.page_routes import PageRequest, text_field

NOTICE_SECONDS = 60
"""A page that was not opened by then shows no notice."""
_PURPOSE = "notice"


class _NoticeContent(msgspec.Struct, frozen=True):
    text: str


def notice_header(settings: Settings, vault: Vault, text: str) -> Header:
    """Return the Set-Cookie header that passes a notice to the next page."""
    value = sign_value(vault, _PURPOSE, _NoticeContent(text))
    return set_cookie(settings, NOTICE_COOKIE, value, max_age=NOTICE_SECONDS)


def notice_of(vault: Vault, cookies: dict[str, str]) -> str:
    """Return the notice for the page; empty if there is none or the cookie was changed."""
    cookie = cookies.get(NOTICE_COOKIE)
    content = verify_signed(vault, _PURPOSE, cookie, _NoticeContent) if cookie else None
    return content.text if content else ""


def clear_notice_header(settings: Settings) -> Header:
    """Return the Set-Cookie header that removes the notice after it was shown."""
    return set_cookie(settings, NOTICE_COOKIE, "", ends=True)


def notice_by_field(name: str, notices: dict[str, str], otherwise: str) -> Callable[[PageRequest], str]:
    """Return a function that chooses the notice by the value of a form field."""
    return lambda request: notices.get(text_field(request.form, name), otherwise)
