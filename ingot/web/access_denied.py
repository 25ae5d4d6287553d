"""Responses to requests that may not see a page yet or lack a CSRF token; long texts of forms are shown again."""

from typing import Any
from urllib.parse import quote

from ingot.core.http.request import Request
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoute, TemplateResponse, Visit, local_path
from ingot.web.profile.two_factor import PAGE_PATH as TWO_FACTOR
from ingot.web.rendering import error_page
from ingot.web.sign_in.admin_mode import is_admin_mode_page, is_administration, redirect_to_admin_mode
from ingot.web.sign_in.terms import redirect_to_terms

MIN_TEXT_LENGTH = 20
"""Minimum length of a form text that is shown again; shorter texts are quick to retype."""
_HIDDEN_FIELDS = (
    "authenticity_token",
    "password",
    "secret",
    "token",
    "key",
    "value",
    "otp",
    "pending_sign_in",
    "_method",
)


def ask_to_sign_in(method: str, visit: Visit, headers: dict[bytes, bytes]) -> PageResponse:
    """Redirect to the sign-in page and from there back; show the long texts of a submitted form first."""
    if visit.headers.fragment:
        return error_page(401)
    if method == "GET":
        return LocalRedirect(_sign_in(visit.request.address))
    origin_page = _referring_page(visit, headers)
    texts = _long_texts(visit, headers)
    if not texts:
        return LocalRedirect(_sign_in(origin_page))
    context = {"title": "You are signed out", "texts": texts, "sign_in": _sign_in(origin_page), "back": ""}
    return TemplateResponse("sign_in/rejected_form.html", context, 401)


def reject_form(visit: Visit, headers: dict[bytes, bytes]) -> TemplateResponse:
    """Return the error page for a form whose CSRF token does not belong to this session."""
    texts = _long_texts(visit, headers)
    if visit.headers.fragment or not texts:
        return error_page(422)
    context = {"title": "The form has expired", "texts": texts, "sign_in": "", "back": _referring_page(visit, headers)}
    return TemplateResponse("sign_in/rejected_form.html", context, 422)


def _sign_in(back: str) -> str:
    return f"/users/sign_in?redirect_to={quote(back, safe='')}"


def _own_urls(visit: Visit) -> tuple[str, str]:
    return visit.request.origin.url, visit.request.origin.base


def _referring_page(visit: Visit, headers: dict[bytes, bytes]) -> str:
    """Return the path of the page that contained the form; the form's own target may not support GET."""
    referer = headers.get(b"referer", b"").decode("latin-1")
    paths = (referer.removeprefix(start) for start in _own_urls(visit) if referer.startswith(f"{start}/"))
    return local_path(next(paths, None)) or "/"


def _long_texts(visit: Visit, headers: dict[bytes, bytes]) -> list[str]:
    """Return the long texts of a form, if it was sent from this site; other sites must not place text on our pages."""
    if headers.get(b"origin", b"").decode("latin-1") not in _own_urls(visit):
        return []
    return [text for text in _texts(visit.request.form) if len(text) >= MIN_TEXT_LENGTH]


def _texts(form: dict[str, Any]) -> list[str]:
    texts: list[str] = []
    for name, value in form.items():
        if any(word in name for word in _HIDDEN_FIELDS):
            continue
        if isinstance(value, dict):
            texts += _texts(value)
        elif isinstance(value, str):
            texts.append(value)
    return texts


def redirect_if_blocked(route: PageRoute, visit: Visit, request: Request) -> PageResponse | None:
    """Return the page that a visitor must deal with first: a sign-in, a new password, a second factor, terms."""
    if visit.viewer.user is None and not route.open:
        return ask_to_sign_in(route.method, visit, request.headers)
    if visit.viewer.user is not None and visit.viewer.user.password_expired and not route.with_expired_password:
        return LocalRedirect("/profile/password/new")
    if (
        visit.viewer.must_set_up_two_factor
        and not route.with_expired_password
        and not route.path.startswith(TWO_FACTOR)
    ):
        return LocalRedirect(TWO_FACTOR)
    if visit.viewer.must_accept_terms and not route.with_expired_password:
        return redirect_to_terms(visit)
    if visit.viewer.may_enter_admin_mode and is_administration(route.path) and not is_admin_mode_page(route.path):
        return redirect_to_admin_mode(visit)
    return None
