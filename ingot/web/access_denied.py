"""What visitors are told whom the door lets no further; what they had typed is not lost."""

from typing import Any
from urllib.parse import quote

from ingot.web.page_routes import LocalRedirect, PageResponse, TemplateResponse, Visit, local_path
from ingot.web.rendering import error_page

MIN_KEPT_LENGTH = 20
"""What is shorter is typed again as quickly as it is copied."""
_HIDDEN_FIELDS = ("authenticity_token", "password", "secret", "token", "key", "value", "otp", "waiting", "_method")


def ask_to_sign_in(method: str, visit: Visit, headers: dict[bytes, bytes]) -> PageResponse:
    """Lead somebody to where they sign in, and from there back to the page that they came from."""
    if visit.headers.fragment:
        return error_page(401)
    if method == "GET":
        return LocalRedirect(_sign_in(visit.request.address))
    before = _referring_page(visit, headers)
    texts = _long_texts(visit, headers)
    if not texts:
        return LocalRedirect(_sign_in(before))
    context = {"title": "You are signed out", "texts": texts, "sign_in": _sign_in(before), "back": ""}
    return TemplateResponse("sign_in/turned_away.html", context, 401)


def reject_form(visit: Visit, headers: dict[bytes, bytes]) -> TemplateResponse:
    """Say that a form was not made for this session."""
    texts = _long_texts(visit, headers)
    if visit.headers.fragment or not texts:
        return error_page(422)
    context = {"title": "The form has expired", "texts": texts, "sign_in": "", "back": _referring_page(visit, headers)}
    return TemplateResponse("sign_in/turned_away.html", context, 422)


def _sign_in(back: str) -> str:
    return f"/users/sign_in?redirect_to={quote(back, safe='')}"


def _is_our_page(visit: Visit) -> tuple[str, str]:
    return visit.request.origin.url, visit.request.origin.base


def _referring_page(visit: Visit, headers: dict[bytes, bytes]) -> str:
    """The page that a form was on: where it leads to may not be one."""
    referer = headers.get(b"referer", b"").decode("latin-1")
    paths = (referer.removeprefix(start) for start in _is_our_page(visit) if referer.startswith(f"{start}/"))
    return local_path(next(paths, None)) or "/"


def _long_texts(visit: Visit, headers: dict[bytes, bytes]) -> list[str]:
    """The longer texts of a form that stood on a page of ours; nobody else puts words on our pages."""
    if headers.get(b"origin", b"").decode("latin-1") not in _is_our_page(visit):
        return []
    return [text for text in _texts(visit.request.form) if len(text) >= MIN_KEPT_LENGTH]


def _texts(form: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in form.items():
        if any(word in name for word in _HIDDEN_FIELDS):
            continue
        if isinstance(value, dict):
            found += _texts(value)
        elif isinstance(value, str):
            found.append(value)
    return found
