"""What visitors are told whom the door lets no further; what they had typed is not lost."""

from typing import Any
from urllib.parse import quote

from ingot.web.pages import Page, Redirect, Reply, Visit, local_path
from ingot.web.rendering import message_page

SHORTEST = 20
"""What is shorter is typed again as quickly as it is copied."""
_UNSHOWN = ("authenticity_token", "password", "secret", "token", "key", "value", "otp", "waiting", "_method")


def ask_to_sign_in(method: str, visit: Visit, headers: dict[bytes, bytes]) -> Reply:
    """Lead somebody to where they sign in, and from there back to the page that they came from."""
    if visit.fragment:
        return message_page(401)
    if method == "GET":
        return Redirect(_sign_in(visit.address))
    before = _page_before(visit, headers)
    texts = _typed(visit, headers)
    if not texts:
        return Redirect(_sign_in(before))
    context = {"title": "You are signed out", "texts": texts, "sign_in": _sign_in(before), "back": ""}
    return Page("entry/turned_away.html", context, 401)


def refuse_form(visit: Visit, headers: dict[bytes, bytes]) -> Page:
    """Say that a form was not made for this session."""
    texts = _typed(visit, headers)
    if visit.fragment or not texts:
        return message_page(422)
    context = {"title": "The form was too old", "texts": texts, "sign_in": "", "back": _page_before(visit, headers)}
    return Page("entry/turned_away.html", context, 422)


def _sign_in(back: str) -> str:
    return f"/users/sign_in?redirect_to={quote(back, safe='')}"


def _ours(visit: Visit) -> tuple[str, str]:
    return visit.origin.url, visit.origin.base


def _page_before(visit: Visit, headers: dict[bytes, bytes]) -> str:
    """The page that a form was on: where it leads to may not be one."""
    referer = headers.get(b"referer", b"").decode("latin-1")
    paths = (referer.removeprefix(start) for start in _ours(visit) if referer.startswith(f"{start}/"))
    return local_path(next(paths, None)) or "/"


def _typed(visit: Visit, headers: dict[bytes, bytes]) -> list[str]:
    """The longer texts of a form that stood on a page of ours; nobody else puts words on our pages."""
    if headers.get(b"origin", b"").decode("latin-1") not in _ours(visit):
        return []
    return [text for text in _texts(visit.form) if len(text) >= SHORTEST]


def _texts(form: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in form.items():
        if any(word in name for word in _UNSHOWN):
            continue
        if isinstance(value, dict):
            found += _texts(value)
        elif isinstance(value, str):
            found.append(value)
    return found
